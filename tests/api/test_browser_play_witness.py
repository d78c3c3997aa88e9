"""What the game in the browser holds against a server that breaks its word: events, receipts, keys and deals of other making."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from tests.api.test_browser_page import served
from tests.support.browser import ORIGIN, open_page

_TELL = """async (change) => {
    const { believeKey, keep, keptOf, hearReceipt } = await import("/play/kept.js");
    const { newShare, shareOf } = await import("/play/share.js");
    const { Ledger } = await import("/play/ledger.js");
    const { genesisHead, nextHead, receiptMessage, rotationMessage, fromHex, toHex, utf8 } = await import("/verify-formulas.js");
    const server = async () => {
        const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
        const name = toHex(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
        return { name, sign: async (message) => toHex(new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, message))) };
    };
    const key = await server(), next = await server(), stranger = await server();
    const game = "g-test", { entropy_commit: commit } = await newShare(), other = (await newShare()).entropy_commit;
    const warnings = [];
    const ledger = new Ledger(game, (words) => warnings.push(words));
    let head = await genesisHead(game), seq = 0;
    const heads = [];
    const tell = async (event, lie = {}) => {
        seq += 1;
        const text = JSON.stringify({ n: seq, ...event });
        head = await nextHead(head, utf8(text));
        heads[seq] = toHex(head);
        ledger.see({ seq, head: heads[seq], event: text, private: null, ...lie });
    };
    const receipt = async (at, by = key, told = heads[at]) =>
        hearReceipt({ game, seq: at, head: told, signature: await by.sign(await receiptMessage(game, at, fromHex(told))) });
    await tell({ t: "game_created", rules: { players: 2 }, anchor: "ab".repeat(32), chain: 64, server_key: key.name });
    keep(game, () => ({ seat: 0, commit }));
    await tell({ t: "seat_taken", seat: 0, kind: "player", entropy_commit: change === "seal" ? "cd".repeat(32) : commit });
    await tell({ t: "seat_taken", seat: 1, kind: "player", entropy_commit: other });
    await receipt(2);
    if (change === "forged receipt") await receipt(3, stranger);
    if (change === "forked receipt") await receipt(3, key, "12".repeat(32));
    if (change === "rotated") {
        const signature = await key.sign(await rotationMessage(game, 4, fromHex(next.name)));
        await tell({ t: "key_rotated", server_key: next.name, signature });
    }
    if (change === "foreign key") await tell({ t: "key_rotated", server_key: next.name, signature: "00".repeat(64) });
    const opened = change === "other number" ? "ef".repeat(32) : ["late", "left out"].includes(change) ? "" : shareOf(commit);
    if (change === "left out") keep(game, () => ({ opened: true }));
    await tell({ t: "game_locked", entropy: [[0, "player", opened], [1, "player", shareOf(other)]] }, change === "another history" ? { head: "34".repeat(32) } : {});
    if (change === "rotated") await receipt(5, next);
    await ledger.witness.settle();
    return { warnings, kept: keptOf(game), locked: ledger.locked };
}"""


def watched(browser: Browser, app: Flask, change: str) -> dict[str, Any]:
    """What a browser warns of and keeps when it is told a game to its lock, with one thing other than it should be."""
    with open_page(browser, served(app)) as page:
        page.goto(f"{ORIGIN}/about")
        return _watch(page, change)


def _watch(page: Page, change: str) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(_TELL, change)
    return found


@pytest.mark.parametrize("change", ["", "rotated"])
def test_an_honest_server_is_believed(browser: Browser, app: Flask, change: str) -> None:
    """Nothing is warned of, and the last receipt is kept; after a rotation one by the new key."""
    found = watched(browser, app, change)
    assert ([], []) == (found["warnings"], found["kept"]["pending"])
    assert (5 if change else 2) == found["kept"]["receipt"]["seq"]
    assert found["kept"]["forked"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("seal", "another seal for your seat"),
        ("other number", "another number for your seat"),
        ("left out", "though the server had taken it"),
        ("late", "it was not opened in time"),
        ("another history", "does not follow from what the server told before"),
        ("forged receipt", "not signed by the key that the game names"),
        ("forked receipt", "signed another history up to event 3"),
        ("foreign key", "its old one does not vouch for it"),
    ],
)
def test_a_broken_word_is_told(browser: Browser, app: Flask, change: str, words: str) -> None:
    """Each way is told in a sentence, once."""
    (warning,) = watched(browser, app, change)["warnings"]
    assert words in warning


def test_what_proves_a_fork_is_kept(browser: Browser, app: Flask) -> None:
    """A receipt of another history stands beside the one that is right; one that nobody signed is thrown away."""
    forked = watched(browser, app, "forked receipt")["kept"]
    assert (2, 3) == (forked["receipt"]["seq"], forked["forked"]["seq"])
    forged = watched(browser, app, "forged receipt")["kept"]
    assert (2, None) == (forged["receipt"]["seq"], forged["forked"])


def test_little_is_kept(browser: Browser, app: Flask) -> None:
    """Of many games the newest, of many numbers those that were made last; and without storage as long as the page lasts."""
    with open_page(browser, served(app)) as page:
        page.goto(f"{ORIGIN}/about")
        games, first, last = page.evaluate(
            """async () => {
                const { hearReceipt, keptOf } = await import("/play/kept.js");
                for (let n = 0; n < 80; n++) hearReceipt({ game: `g${n}`, seq: 1, head: "", signature: "" });
                const games = Object.keys(localStorage).filter((name) => name.startsWith("hearts.kept."));
                return [games.length, keptOf("g0").count, keptOf("g79").count];
            }"""
        )
        assert (60, 0, 1) == (games, first, last)
        shared = page.evaluate(
            """async () => {
                Storage.prototype.setItem = () => { throw new Error("full"); };
                const { newShare, shareOf } = await import("/play/share.js");
                return shareOf((await newShare()).entropy_commit).length;
            }"""
        )
        assert 64 == shared


def test_without_a_safe_page_there_is_no_number(browser: Browser, app: Flask) -> None:
    """Browsers lend their cryptography to pages that came safely alone: elsewhere the seat is taken without a number."""
    with open_page(browser, served(app)) as page:
        page.goto(f"{ORIGIN}/about")
        page.evaluate("Object.defineProperty(crypto, 'subtle', { value: undefined })")
        assert {} == page.evaluate("async () => (await import('/play/share.js')).newShare()")
