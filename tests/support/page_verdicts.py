"""What the page's own code says of proof files, beside what the house says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from playwright.sync_api import Page

from domain.refusals import Malformed
from services.integrity import Kept, WrongEvidence
from services.proof import read_proof
from services.verdicts import verify_proof
from tests.services.test_proof_rotated import rotated
from tests.support.browser import in_base64
from tests.support.proofs import OTHER_KEY, file_of, played

VERIFY = """async ([files, evidence]) => {
    const { verify } = await import("/verify.js");
    const raw = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const found = [];
    for (const file of files) found.push(await verify(raw(file), evidence));
    return found;
}"""
Told = dict[str, Any]
FIELDS = ("status", "event", "detail", "level", "top", "reached", "next")
"""What both must say of a claim."""


def by_page(page: Page, files: Sequence[bytes], **evidence: Any) -> list[Told]:
    """What the page says of files."""
    found: list[Told] = page.evaluate(VERIFY, [[in_base64(one) for one in files], evidence])
    return found


def comparable(report: Told) -> Told:
    """What must be equal of a report: F and I to the word, where a file is cut off that it is, and where it ends.

    Of what cannot be read the words are each reader's own, and the rules are the house's to check.
    """
    if report["problem"]:
        return {"line": report["problem"].partition(":")[0]}
    told = {claim["name"]: claim for claim in report["claims"]}
    found = {name: tuple(told[name][field] for field in FIELDS) for name in "FI"}
    unread = told["R"]["event"] if "the events cannot be read" == told["F"]["detail"] else None
    return {"head": report["head"], "events": report["events"], "unread": unread, **found}


def by_house(data: bytes, server_key: str | None = None, kept: Kept = Kept()) -> Told:  # noqa: B008 (a value)
    """What the house says of a file."""
    try:
        report = verify_proof(read_proof(data), server_key, kept)
    except (Malformed, WrongEvidence) as error:
        return {"problem": str(error)}
    claims = [msgspec.structs.asdict(one) for one in report.claims]
    return {"problem": "", "head": report.head, "events": report.events, "claims": claims}


def check_same(page: Page, files: Sequence[bytes]) -> list[Told]:
    """That both say the same of files; what the page says."""
    found = by_page(page, files)
    for data, report in zip(files, found, strict=True):
        assert comparable(by_house(data)) == comparable(report)
    return found


def statuses(report: Told) -> str:
    """The statuses of F and I by their first letters."""
    return "".join(claim["status"][0] for claim in report["claims"] if claim["name"] in "FI")


def turned() -> bytes:
    """A game whose server took another key on the way, with a receipt by that one."""
    events = list(played().events)
    rotated(events, 20)
    return file_of(events, OTHER_KEY)
