"""The one part of the build that pyproject.toml cannot say: the compiled kernel, left out where no compiler is."""

import sysconfig

from setuptools import Extension, setup

# One file serves Python 3.11 and all later ones, but for those without a global lock, which know no stable ABI yet.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")
FOLDER = "domain/kernel/"

setup(
    ext_modules=[
        Extension(
            "domain.kernel._hearts",
            sources=[FOLDER + name for name in ("asked.c", "module.c", "record.c", "searched.c", "terms.c")],
            depends=[
                FOLDER + name
                for name in (
                    *(
                        "asked.h",
                        "hearts.h",
                        "json.h",
                        "passing.h",
                        "plain.h",
                        "playout.h",
                        "policy.h",
                        "record.h",
                        "score.h",
                        "search.h",
                    ),
                    *("terms.h", "whole.h", "world.h"),
                )
            ],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
            py_limited_api=STABLE,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
