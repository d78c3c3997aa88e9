"""What makes the page pleasant: low windows, the last trick for as long as one looks, lists that tell games apart, marks, ways out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.playing import (
    POLL,
    act,
    clear_cards,
    is_over,
    pass_three,
    play_out,
    sit,
    visitor,
    wait_for_me,
)
from tests.support.running import running_house

LOW = {"small laptop": (1280, 600), "phone held sideways": (844, 390), "desk at 200 %": (640, 400)}
_HEIGHTS = "[document.documentElement.scrollHeight, innerHeight]"
_UNSEEN = """() => [...document.querySelectorAll(".hand .card, .plate, .laid [data-card]")]
    .map((one) => one.getBoundingClientRect()).filter((box) => box.bottom > innerHeight + 1 || box.top < 0 || box.right > innerWidth + 1).length"""
_NO_STORE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"
_NO_SESSION = _NO_STORE.replace("localStorage", "sessionStorage")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


@pytest.mark.parametrize("seats", [4, 7, 11])
def test_a_low_window_shows_table_and_hand(browser: Browser, house: str, seats: int) -> None:
    """Nobody has to scroll between the trick and the cards, when passing and when playing."""
    family = "cancellation" if seats > 4 else "standard"
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, family, seats)
        for _ in range(2):
            for width, height in LOW.values():
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_function("width => innerWidth === width", arg=width, polling=POLL)
                assert (height, height) == tuple(page.evaluate(_HEIGHTS))
                assert 0 == page.evaluate(_UNSEEN)
            act(page)


def test_the_keyboard_is_seen_on_a_raised_card(browser: Browser, house: str) -> None:
    """Its ring is that of any card that has the keyboard, and not the mark of a raised one."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        rings = []
        page.locator(".hand .card").first.focus()
        for key in ("ArrowRight", "Enter"):
            page.keyboard.press(key)
            rings.append(
                page.evaluate("getComputedStyle(document.activeElement.querySelector('.face')).outline")
            )
        assert "true" == page.evaluate("document.activeElement.getAttribute('aria-pressed')")
        assert rings[0] == rings[1]


def test_the_last_trick_stays_while_one_looks(browser: Browser, house: str) -> None:
    """Given bots that go on, then it is seen until it is put away, and what was said before is said again."""
    with visitor(browser, "slow") as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        while not page.locator(".cloth.done").count() and not is_over(page):
            clear_cards(page).first.click()
            page.wait_for_function(
                "() => document.querySelector('.cloth.done') || document.querySelector('.game').dataset.turn === 'mine'",
                polling=POLL,
            )
        wait_for_me(page)
        said = page.locator(".says").inner_text()
        page.keyboard.press("l")
        expect(page.locator(".says")).to_have_text("The last trick.")
        page.keyboard.press("l")
        expect(page.locator(".says")).to_have_text(said)


def test_my_games_can_be_told_apart(browser: Browser, house: str) -> None:
    """By when they were played and how they ended; and what was chosen last is chosen again."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, "spot")
        play_out(page)
        page.goto(f"{house}/")
        mine = page.locator(".mine li", has_text=":")
        expect(mine.locator(".where")).to_contain_text(" : ")
        expect(mine.locator("time")).to_contain_text("20")
        expect(page.locator("#family")).to_have_value("spot")
        expect(page.locator("#level")).to_have_value("rules")
        expect(page.locator("#length")).to_have_value("1")


def test_a_full_table_is_not_offered(browser: Browser, house: str) -> None:
    """Given a table that only waits for somebody to be ready, then the lobby lists it no more."""
    with visitor(browser) as host, visitor(browser) as friend, visitor(browser) as stranger:
        page, other, third = host.new_page(), friend.new_page(), stranger.new_page()
        page.goto(f"{house}/")
        page.fill("#name", "Hosting")
        page.click(".opening summary")
        page.select_option("#others", "1")
        page.click("#sit")
        page.locator(".ask [data-act=leave]").wait_for()
        third.goto(f"{house}/")
        listed = third.locator(".tables li", has_text="Hosting")
        expect(listed).to_have_count(1)
        other.goto(page.url)
        other.click("[data-act=sit]")
        expect(other.locator("[data-act=ready]")).to_be_visible()
        expect(listed).to_have_count(0)
        expect(page.locator(".prompt").first).to_contain_text("Waiting until you and")


def test_how_a_game_is_played_is_told_in_the_lobby(browser: Browser, house: str) -> None:
    """For the seats that are chosen."""
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        page.select_option("#family", "standard")
        page.select_option("#seats", "3")
        page.click("[data-act=rules]")
        expect(page.locator("dialog .rule-title")).to_have_text("Standard Hearts")
        expect(page.locator("dialog")).to_contain_text("17 cards")


def test_a_plain_game_has_no_house_rules(browser: Browser, house: str) -> None:
    """The limit that every table has is none."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, "basic", hands="")
        page.keyboard.press("x")
        expect(page.locator("dialog .rule-title")).to_have_text("Hearts")
        expect(page).to_have_title("Hearts")


def test_partners_are_marked(browser: Browser, house: str) -> None:
    """To who looks and to who listens."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, "partnership")
        marked = page.locator(".seat", has=page.locator(".chip", has_text="partner"))
        expect(marked).to_have_attribute("data-seat", "2")
        expect(marked.locator(".unseen")).to_contain_text("your partner")


def test_cards_that_cancel_each_other_are_marked(browser: Browser, house: str) -> None:
    """As soon as both lie there, and no others."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, "cancellation", 11, hands="")
        for _ in range(60):
            laid = page.evaluate(
                "[...document.querySelectorAll('.laid')].map((one) => [one.querySelector('[data-card]')?.dataset.card, one.classList.contains('cancelled')])"
            )
            cards = [card for card, _ in laid if card]
            assert [cards.count(card) > 1 for card, _ in laid] == [marked for _, marked in laid]
            if len(cards) > len(set(cards)):
                return
            act(page)
        pytest.fail("no two cards were the same")


def test_there_is_a_way_out_of_nowhere(browser: Browser, house: str) -> None:
    """From a replay that there is none of, and from addresses that are spoilt."""
    with visitor(browser) as person:
        page = person.new_page()
        for address in ("#/replay/nope", "#/replay/%E0%A4%A", "#/table/%E0%A4%A"):
            page.goto(f"{house}/")
            page.goto(f"{house}/{address}")
            expect(page.locator(".stuck h1")).to_have_text("No table")
            page.click(".stuck a")
            expect(page.locator("#sit")).to_be_visible()


@pytest.mark.parametrize("kept", ["tab", "nothing"])
def test_a_browser_that_keeps_nothing(browser: Browser, house: str, kept: str) -> None:
    """It is said before one sits down; what lasts as long as the tab keeps the seat when the page is loaded again."""
    with visitor(browser) as person:
        page = person.new_page()
        page.add_init_script(_NO_STORE + (_NO_SESSION if kept == "nothing" else ""))
        page.goto(f"{house}/")
        words = {"tab": "whoever closes this tab", "nothing": "closes or reloads"}[kept]
        expect(page.locator(".opening .problem")).to_contain_text(words)
        page.click("#sit")
        wait_for_me(page)
        page.reload()
        if kept == "tab":
            wait_for_me(page)
        else:
            expect(page.locator(".prompt").first).to_contain_text("You are watching.")


def test_a_seat_that_was_left_can_be_had_again(browser: Browser, house: str) -> None:
    """Given bots alone at a table, then they let each trick lie, and who comes back plays on in the same hand."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        page.click(".tools summary")
        page.click("[data-act=leave]")
        page.click("[data-act=back]")
        wait_for_me(page)
        assert not is_over(page)
        assert page.locator(".hand .card").count() > 9


def test_the_server_is_heard_again(browser: Browser, house: str) -> None:
    """Given a line that is gone, then what was pressed is said to wait; when the line is back that is said, and it was sent."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        count = page.locator(".hand .card").count()
        person.set_offline(True)
        clear_cards(page).first.click()
        expect(page.locator(".says")).to_contain_text("The server does not answer")
        person.set_offline(False)
        expect(page.locator("#live")).to_contain_text("The server answers again.")
        expect(page.locator(".hand .card")).to_have_count(count - 1)


def test_the_replay_asks_where_somebody_is_to_play(browser: Browser, house: str) -> None:
    """At a full trick the bot is not asked, and a card of who is not to play is answered by whose turn it is."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        _look_again(page, house)
        page.keyboard.press("ArrowDown")
        advice = page.locator("[data-act=advice]")
        while page.locator(".laid [data-card]").count() < 4:
            page.keyboard.press("ArrowRight")
            page.wait_for_function(
                "() => document.querySelector('.where').textContent === document.querySelector('#reel').getAttribute('aria-valuetext')",
                polling=POLL,
            )
        expect(advice).to_have_attribute("aria-disabled", "true")
        advice.dispatch_event("click")
        expect(page.locator(".says")).to_have_text("Nobody is to play now.")


def test_practice_is_told_from_games(browser: Browser, house: str) -> None:
    """What was branched off a game says so in the list."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        _look_again(page, house)
        page.click("[data-step=next-trick]")
        page.click("[data-act=branch]")
        wait_for_me(page)
        page.goto(f"{house}/")
        expect(page.locator(".mine li", has_text="practice")).to_have_count(1)


def _look_again(page: Page, house: str) -> None:
    page.goto(f"{house}/#/replay/{page.url.rsplit('/', 1)[1]}")
    page.locator(".replay[data-ready]").wait_for()
