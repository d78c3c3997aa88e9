# Needs Python 3.11 or newer and make, nothing else. `make` alone prints what there is.

PYTHON ?= python3
DATA ?= hearts-data
PYTEST_ARGS ?= -n auto
CALLS ?= 20000
SEED ?= 1
MINUTES ?= 10
SECONDS ?= 600

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP_COMPILE := CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe \
	--strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options $(LOCK_ARGS)

.DEFAULT_GOAL := help
.PHONY: help venv run test check format bench bytes check-kernel fuzz faults leaks peers lock clean

help: ## print this list
	@awk -F ': *[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12 chooses the interpreter of a new .venv, DATA=folder where make run keeps its games,"
	@echo "  HEARTS_PORT=8001 its port,"
	@echo "  PYTEST_ARGS='-x tests/domain' what make test passes on."

venv: $(STAMP) ## build .venv from the lock files (again only when they change)

# The whole environment is built anew, so that it holds what the locks name and nothing older.
$(STAMP): requirements/dev.lock pyproject.toml setup.py $(wildcard domain/kernel/*.[ch])
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; make PYTHON=python3.12 chooses one." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@# setuptools warns at length of folders named like packages; here they are the packages.
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

run: $(STAMP) ## serve a playable table and print its address; games are kept in hearts-data
	$(BIN)/hearts up --data "$(DATA)"

test: $(STAMP) ## run the whole test suite on all cores (minutes; starts its own servers)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(STAMP) ## lint, format, types and the import law
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

format: $(STAMP) ## let ruff format the code and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## measure speed, each figure as a ratio within one run
	$(BIN)/python tests/bench/run.py

bytes: $(STAMP) ## change each byte of proof files of every family, and of one with all events, to each other value (hours)
	$(BIN)/python tests/fuzz/every_byte.py

check-kernel: $(STAMP) ## run the compiled kernel's tests, and spoilt input for MINUTES=10, under sanitizers
	$(BIN)/python tests/fuzz/kernel.py --minutes $(MINUTES) --seed $(SEED)

fuzz: $(STAMP) ## let schemathesis make CALLS=20000 calls to a house of its own (minutes)
	$(BIN)/python tests/fuzz/run.py --calls $(CALLS) --seed $(SEED)

faults: $(STAMP) ## do a house all kinds of harm for SECONDS=600 while it is played at, and check what it has promised
	$(BIN)/python tests/faults/run.py --seconds $(SECONDS) $(if $(filter file,$(origin SEED)),,--seed $(SEED))

leaks: $(STAMP) ## try for MINUTES=10 whether anybody can tell which cards are hidden
	$(BIN)/python tests/hidden/at_length.py --minutes $(MINUTES) --seed $(SEED)

peers: $(STAMP) ## install OpenSpiel too, which make bench then measures against (300 MB)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/peers.lock

lock: $(STAMP) ## resolve the lock files again (LOCK_ARGS=--upgrade takes newer releases)
	$(PIP_COMPILE) --output-file requirements/build.lock requirements/build.in
	$(PIP_COMPILE) --output-file requirements/run.lock pyproject.toml requirements/run.in
	$(PIP_COMPILE) --extra test -c requirements/build.lock -c requirements/run.lock \
		--output-file requirements/dev.lock \
		pyproject.toml requirements/run.in requirements/build.in requirements/dev.in
	$(PIP_COMPILE) -c requirements/dev.lock --output-file requirements/peers.lock requirements/peers.in

clean: ## remove the environment, builds and caches; the games of make run stay
	rm -rf $(VENV) build dist *.egg-info domain/kernel/*.so .pytest_cache .mypy_cache .ruff_cache .hypothesis mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
