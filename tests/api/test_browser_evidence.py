"""What a reader kept, and browsers that can do less, by the page's own code: the same verdicts as the house's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page

from domain.refusals import Malformed
from domain.variants import ruleset_of
from services.audit import ServerKey
from services.cli_records import public_key
from services.integrity import Kept, read_kept_checkpoint, read_kept_receipt
from services.keylist import key_links, read_key_list
from tests.services.test_proof_log import END, LOCK, LOG, OTHERS, kept_leaf, log_of
from tests.services.test_proof_log import file_of as logged
from tests.support.browser import ORIGIN, in_base64, open_page
from tests.support.games import play_game
from tests.support.page_verdicts import by_house, by_page, comparable, statuses, turned
from tests.support.proofs import KEY, OTHER_KEY, THIRD_KEY, Ring, file_of, played

PROOFS = sorted((Path(__file__).resolve().parents[1] / "conformance/proofs").glob("*.ndjson"))


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can load the modules."""
    with open_page(browser) as page:
        page.goto(f"{ORIGIN}/")
        yield page


# --- what a reader kept


def receipt_of(data: bytes) -> str:
    """The line of a file with its receipt."""
    return next(line for line in data.decode().splitlines() if line.startswith('{"receipt"'))


def leaf_text(log: Any, leaf: Any) -> str:
    """What `/v1/log/proof` answers of a leaf."""
    proof = log.prove([leaf])
    fields = {"game": leaf.game, "kind": leaf.kind, "seq": leaf.seq, "head": leaf.head.hex()}
    return json.dumps(msgspec.structs.asdict(proof.inclusions[0]) | fields | {"checkpoint": proof.checkpoint})


def listed(*keys: ServerKey) -> str:
    """The list of these keys as the server publishes it."""
    return json.dumps({"origin": "example.org/hearts", "keys": key_links(keys)})


OTHER_GAME = play_game(
    ruleset_of({"variant": "standard", "players": 4, "hand_limit": 2}), 8, kinds="ppnb", server_key=KEY.public
)
"""Another course of the same game: a fork."""
NO_SEQ = "the receipt cannot be read: no receipt: seq is not a number from 1 to 2^53"
EVIDENCE: list[dict[str, Any]] = [
    {},
    {"serverKey": KEY.public},
    {"serverKey": KEY.public.upper()},
    {"serverKey": OTHER_KEY.public},
    {"receipts": [receipt_of(file_of(played().events[:40]))]},
    {"receipts": [receipt_of(file_of(played().events))], "serverKey": KEY.public},
    {"receipts": [receipt_of(file_of(OTHER_GAME.events[:40]))]},
    {"receipts": [receipt_of(file_of(played().events[:40], OTHER_KEY))]},
    {"receipts": [receipt_of(file_of(played().events)).replace("g-test", "g-best")]},
    {"receipts": [receipt_of(file_of(played().events)).replace('"seq":', '"seq":9')]},
    {"receipts": [receipt_of(file_of(played().events)).replace('"head":"6', '"head":"7')]},
    {"receipts": [receipt_of(file_of(OTHER_GAME.events[:40], OTHER_KEY))]},
    {"receipts": [json.dumps(KEY.receipt("g-test", 999, bytes(32))._asdict())]},
    {"receipts": [json.dumps(OTHER_KEY.receipt("g-test", 9, bytes(32))._asdict())], "serverKey": KEY.public},
    {
        "receipts": [json.dumps(OTHER_KEY.receipt("g-test", 9, bytes(32))._asdict())],
        "serverKey": KEY.public,
        "serverKeys": listed(KEY, OTHER_KEY),
    },
    {"checkpoints": [leaf_text(LOG, OTHERS[0])]},
    {"checkpoints": [LOG.checkpoint()]},
    {"checkpoints": [json.dumps({"checkpoint": LOG.checkpoint()})]},
    {"checkpoints": [LOG.checkpoint(4)]},
    {"checkpoints": [leaf_text(LOG, LOCK), leaf_text(LOG, END)]},
    {"checkpoints": [leaf_text(LOG, LOG.prove([LOCK]) and LOCK)], "serverKey": KEY.public},
    {"checkpoints": [leaf_text(log_of(LOCK._replace(game="g-best")), LOCK._replace(game="g-best"))]},
    {"checkpoints": [leaf_text(log_of(END._replace(seq=999)), END._replace(seq=999))]},
    {"checkpoints": [leaf_text(log_of(END._replace(head=bytes(32))), END._replace(head=bytes(32)))]},
    {"checkpoints": [log_of(LOCK, END, key=OTHER_KEY).checkpoint()]},
    {"checkpoints": [log_of(LOCK, END, key=Ring(OTHER_KEY, KEY)).checkpoint()], "serverKey": KEY.public},
    {"checkpoints": [LOG.checkpoint().replace("\n7\n", "\n6\n")]},
    {"checkpoints": [leaf_text(LOG, END), log_of(LOCK, key=OTHER_KEY).checkpoint()]},
    {"checkpoints": [log_of(LOCK, END, *OTHERS, origin="example.org/other").checkpoint()]},
    {"serverKey": OTHER_KEY.public, "serverKeys": listed(OTHER_KEY, KEY)},
    {"serverKey": KEY.public, "serverKeys": listed(OTHER_KEY, KEY)},
    {"serverKey": KEY.public, "serverKeys": listed(OTHER_KEY)},
    {"serverKey": OTHER_KEY.public, "serverKeys": listed(KEY, OTHER_KEY)},
    {"serverKey": OTHER_KEY.public, "serverKeys": listed(OTHER_KEY)},
    {"serverKey": OTHER_KEY.public, "serverKeys": listed(THIRD_KEY, KEY)},
    {
        "serverKey": OTHER_KEY.public,
        "serverKeys": listed(OTHER_KEY, KEY),
        "checkpoints": [log_of(*OTHERS[:3], LOCK, END, *OTHERS[3:], key=OTHER_KEY).checkpoint()],
    },
    {
        "serverKey": OTHER_KEY.public,
        "serverKeys": listed(OTHER_KEY, KEY),
        "checkpoints": [log_of(LOCK, END, key=OTHER_KEY).checkpoint().replace("\n2\n", "\n3\n")],
    },
    {"serverKeys": listed(OTHER_KEY, KEY), "checkpoints": [log_of(LOCK, key=OTHER_KEY).checkpoint()]},
    {"checkpoints": [log_of(END, LOCK, *[LOCK._replace(game=f"x{at}") for at in range(5)]).checkpoint()]},
]


@pytest.mark.parametrize("at", range(len(EVIDENCE)))
def test_what_a_reader_kept_is_judged_the_same(page: Page, at: int) -> None:
    """Receipts, checkpoints, leaves with their paths, the server's key: right, of a fork, of another game, of another key."""
    evidence = EVIDENCE[at]
    kept = Kept(
        tuple(read_kept_receipt(text.encode()) for text in evidence.get("receipts", ())),
        tuple(read_kept_checkpoint(text.encode()) for text in evidence.get("checkpoints", ())),
        read_key_list(evidence["serverKeys"].encode()) if "serverKeys" in evidence else None,
    )
    for data in (logged(key=KEY), file_of(played().events[:30]), logged(None)):
        (report,) = by_page(page, [data], **evidence)
        key = public_key(None, None, evidence.get("serverKey"))  # type: ignore[arg-type]
        assert comparable(by_house(data, key, kept)) == comparable(report)


def test_evidence_that_cannot_be_read_is_told_in_the_same_words(page: Page) -> None:
    """Receipts, checkpoints, lists of keys: the page's sentence is the command's."""
    whole = json.loads(receipt_of(logged(key=KEY)))["receipt"]
    receipts = [
        json.dumps(whole | change)
        for change in ({"seq": 2**60}, {"seq": "1"}, {"head": "zz"}, {"signature": ""})
    ]
    receipts += ["garbage", "[]", "\ufeff" + json.dumps(whole)]
    receipts += [
        f'{json.dumps(whole)[:-1]},"more":{more}}}' for more in ("1.0", str(2**53), '{"a":1,"a":1}', "[" * 70)
    ]
    for text in receipts:
        with pytest.raises(Malformed) as refused:
            read_kept_receipt(text.encode())
        (report,) = by_page(page, [logged()], receipts=[text])
        assert f"the receipt cannot be read: {refused.value}" == report["problem"]
    leaf = json.loads(leaf_text(LOG, LOCK))
    for change in ({"head": "zz" * 32}, {"leaf": "zz"}, {"seq": None}, {"kind": "middle"}):
        text = json.dumps(leaf | change)
        with pytest.raises(Malformed) as refused:
            read_kept_checkpoint(text.encode())
        (report,) = by_page(page, [logged()], checkpoints=[text])
        assert f"the checkpoint cannot be read: {refused.value}" == report["problem"]
    with pytest.raises(Malformed) as refused:
        read_key_list(b'{"keys":7}')
    (report,) = by_page(page, [logged()], serverKeys='{"keys":7}')
    assert f"the list of keys cannot be read: {refused.value}" == report["problem"]


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"receipts": ["garbage"]}, "the receipt cannot be read"),
        ({"receipts": ["null"]}, "the receipt cannot be read"),
        ({"receipts": ['{"game":"g"}']}, "the receipt cannot be read: no receipt: seq"),
        *(
            ({"receipts": [receipt_of(file_of(played().events)).replace('"seq":', f'"seq":{at}')]}, NO_SEQ)
            for at in ("-", '0,"x":')
        ),
        (
            {"receipts": ['{"seq":1,"seq":2}']},
            "the receipt cannot be read: a receipt is JSON, and a key stands",
        ),
        ({"checkpoints": ["garbage"]}, "the checkpoint cannot be read"),
        ({"checkpoints": ["{"]}, "the checkpoint cannot be read"),
        ({"checkpoints": ["{}"]}, "the checkpoint cannot be read"),
        (
            {"checkpoints": [leaf_text(LOG, LOCK).replace('"seq": ', '"seq": 1')]},
            "leaf is not that of its fields",
        ),
        ({"serverKey": "zz"}, "your server key is no public key"),
        ({"serverKeys": "garbage"}, "the list of keys cannot be read: a list of keys is JSON"),
        ({"serverKeys": listed(KEY, OTHER_KEY).replace("signature", "x")}, "the list of keys cannot be read"),
        (
            {"serverKeys": listed(KEY, OTHER_KEY).replace(OTHER_KEY.public, THIRD_KEY.public)},
            "the list of keys cannot be read: key 2 is not signed by the one before it",
        ),
    ],
)
def test_what_cannot_be_read_of_it_is_said(page: Page, evidence: dict[str, Any], words: str) -> None:
    """Evidence that is none is a problem in words, whatever the file."""
    (report,) = by_page(page, [logged()], **evidence)
    assert words in report["problem"]
    assert (False, []) == (report["ok"], report["claims"])


def test_what_stands_behind_the_heads_is_judged_the_same(page: Page) -> None:
    """Of a server of two keys: the file as it is, a byte of checkpoint or inclusions changed, lines that nobody could judge."""
    log = log_of(*OTHERS[:3], LOCK, END, key=Ring(KEY, OTHER_KEY))
    data = logged(log, key=KEY)
    start = data.index(b'{"checkpoint"')
    files = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(start, len(data) - 1, 5)]
    line = next(line for line in data.splitlines() if line.startswith(b'{"checkpoint"'))
    both = data.replace(line, msgspec.json.encode({"checkpoint": log.checkpoint()}))
    files += [both, data.replace(line + b"\n", b""), logged(log).replace(line + b"\n", b"")]
    held, *others = by_page(page, [data, *files])
    assert held["ok"]
    for changed, report in zip(files, others, strict=True):
        assert comparable(by_house(changed)) == comparable(report)
        assert not report["ok"]
    lines = len(data.splitlines())
    assert [f"line {lines - 2}", f"line {lines - 2}", f"line {lines - 3}"] == [
        report["problem"].partition(":")[0] for report in others[-3:]
    ]


def test_a_kept_leaf_is_what_the_house_reads(page: Page) -> None:
    """The text of a leaf in these tests is that which the server answers."""
    assert read_kept_checkpoint(leaf_text(LOG, LOCK).encode()) == kept_leaf(LOG, LOCK)


# --- other browsers


def test_without_signatures_a_receipt_shows_nothing(browser: Browser) -> None:
    """An older browser checks chain and deal, says that it cannot check signatures, and still finds what was changed."""
    with open_page(browser) as page:
        page.add_init_script(
            """const inner = SubtleCrypto.prototype.importKey;
            SubtleCrypto.prototype.importKey = function (form, key, kind, ...rest) {
                const refused = new DOMException("Unrecognized name.", "NotSupportedError");
                return kind === "Ed25519" ? Promise.reject(refused) : inner.call(this, form, key, kind, ...rest);
            };"""
        )
        page.goto(f"{ORIGIN}/")
        honest, turned_file = logged(key=KEY), turned()
        changed_file = honest.replace(b'"card":"2C"', b'"card":"3C"')
        found = by_page(page, [honest, turned_file, changed_file])
    assert ["hn", "hn", "hf"] == [statuses(report) for report in found]
    for report in found[:2]:
        assert report["ok"]
        assert report["claims"][1]["detail"].startswith(
            "this browser cannot check signatures; unsigned it would"
        )
    assert by_house(changed_file)["claims"][1]["event"] == found[2]["claims"][1]["event"]


def test_a_page_without_cryptography_says_what_to_do(browser: Browser) -> None:
    """At an address that is neither https nor this machine a browser has none to lend."""
    with open_page(browser) as page:
        page.add_init_script("Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined });")
        page.goto(f"{ORIGIN}/")
        (report,) = by_page(page, [logged()])
    assert "hearts verify" in report["problem"]


def test_a_long_game_takes_well_under_a_second(page: Page) -> None:
    """The largest of the files, 931 events, and the page stays free to draw meanwhile."""
    data = PROOFS[0].read_bytes()
    milliseconds, shown = page.evaluate(
        """async (file) => {
            const { verify } = await import("/verify.js");
            const data = Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0));
            const shown = [];
            const start = performance.now();
            await verify(data, { progress: (done, all) => shown.push([done, all]) });
            return [performance.now() - start, shown];
        }""",
        in_base64(data),
    )
    assert milliseconds < 1000
    assert [[512, 931], [931, 931]] == shown
