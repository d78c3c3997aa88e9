"""The screen: cards, hands, the table and its news, at every size of table."""

from __future__ import annotations

import pytest
from rich.text import Text

from api.client import SeatInfo
from api.playview import (
    Look,
    card_name,
    card_text,
    frame,
    hand_view,
    news_line,
    numbered,
    read_card,
    seats_view,
    title_line,
)
from domain.cards import NAMES, mask_of, parse_card, parse_cards
from domain.refusals import Malformed
from tests.api.stories import WIDE, Story, drawn

LETTERS = Look(80, 24, signs=False)
SEVENTEEN = "2C 5C 9C JC KC AC 3D 7D TD KD 4S 8S QS 2H 6H TH AH"


@pytest.mark.parametrize(("name", "shown"), [("QS", "Q♠"), ("TC", "10♣"), ("2D", "2♦"), ("AH", "A♥")])
def test_a_card_is_rank_and_sign(name: str, shown: str) -> None:
    """Ten is written 10; without signs a card is written as the server writes it."""
    assert shown == card_name(parse_card(name), WIDE)
    assert name == card_name(parse_card(name), LETTERS)


@pytest.mark.parametrize("word", ["qs", "QS", "Qs", "q♠", "Q♠", "q♤", "Q♠\ufe0e", "Q♠\ufe0f"])
def test_a_card_is_read_in_any_spelling(word: str) -> None:
    """Either case, letters or signs, also such as are drawn as pictures."""
    assert "QS" == NAMES[read_card(word)]


@pytest.mark.parametrize("word", ["10h", "10H", "th", "10♥"])
def test_a_ten_is_read_either_way(word: str) -> None:
    """10 and T are the same rank."""
    assert "TH" == NAMES[read_card(word)]


@pytest.mark.parametrize("word", ["", "q", "sq", "1s", "♠", "queen"])
def test_what_is_no_card_is_not_read(word: str) -> None:
    """Anything else is malformed."""
    with pytest.raises(Malformed):
        read_card(word)


def test_each_suit_has_a_colour_of_its_own() -> None:
    """Four suits, four colours, which say nothing that the sign does not."""
    styles = {str(card_text(parse_card(name), WIDE).style) for name in ("2C", "2D", "2S", "2H")}
    assert 4 == len(styles)


def test_cards_that_may_be_played_are_numbered_in_hand_order() -> None:
    """Numbers count the legal cards, both copies of a twin."""
    hand = mask_of(parse_cards("9C 9C KC 2D QS"))
    assert ["9C", "9C", "KC"] == [NAMES[card] for card in numbered(hand, parse_cards("KC 9C"))]


def test_a_hand_stands_by_suits() -> None:
    """Each suit on its line, legal cards numbered, the others not, an empty suit as a dash."""
    hand = mask_of(parse_cards("9C KC 2D QS"))
    lines = drawn(hand_view(hand, WIDE, parse_cards("9C KC")))
    assert [
        " ♣ clubs      1 9♣   2 K♣",
        " ♦ diamonds     2♦",
        " ♠ spades       Q♠",
        " ♥ hearts       -",
    ] == lines


def test_legal_cards_differ_from_others_without_colour() -> None:
    """A legal card has a number and is bold, another one is dim."""
    coloured = drawn(hand_view(mask_of(parse_cards("9C QS")), WIDE, parse_cards("9C")), colours=True)
    assert "1 \x1b[1;" in coloured[0]
    assert "\x1b[2mQ♠" in coloured[2]


def test_received_cards_are_underlined_each_copy_once() -> None:
    """With two decks, a twin of a received card is not marked as received itself."""
    hand, fresh = mask_of(parse_cards("9C 9C")), mask_of(parse_cards("9C"))
    line = drawn(hand_view(hand, WIDE, None, fresh), colours=True)[0]
    assert (2, 1) == (line.count("9♣"), line.count("\x1b[1;4;"))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_suit_goes_on_below_itself(width: int) -> None:
    """No line is longer than the terminal, and every card is there, both copies."""
    cards = [parse_card(name) for name in NAMES if name.endswith("C")] * 2
    lines = drawn(hand_view(mask_of(cards), Look(width, 24), cards), width)
    assert max(map(len, lines)) <= width
    assert 26 == sum(line.count("♣") for line in lines) - 1
    assert lines[1].startswith(" " * 13)


# --- the table


def test_the_title_tells_how_far_the_game_is() -> None:
    """Variant, seats and target on the left, hand and trick on the right."""
    story = Story().deal("2C 3C")
    assert "hand 1, passing" in title_line(story.scene, WIDE, "Standard Hearts").plain
    story.exchange("2C", "4C").play(1, "5C 6C 7C 8C", 0)
    line = title_line(story.scene, WIDE, "Standard Hearts")
    assert line.plain.startswith(" Standard Hearts, 4 seats, to 100 ")
    assert line.plain.endswith(" hand 1, trick 2 of 13 ")
    assert 80 == line.cell_len


def test_the_table_shows_trick_and_last_trick() -> None:
    """Who led, whose card is high, who took the last trick, and what each has taken."""
    story = Story().deal("2C 3C 4C").exchange("2C", "KH")
    story.play(1, "5C 6C 7C KH", 3).play(3, "2D 4D")
    scene = story.settle(turn=1, hand="3C 4C")
    lines = [" ".join(line.split()) for line in drawn(seats_view(scene, WIDE))]
    assert [
        "seat trick last trick tricks hand total cards",
        "Anna (you) 4♦ high K♥ 0 0 0 11",
        "▶ Bo (bot) 5♣ 0 0 0 12",
        "Cleo (bot) 6♣ 0 0 0 12",
        "Dag (bot) 2♦ led 7♣ took 1 1 0 11",
    ] == lines


def test_identical_cards_are_marked_as_cancelled() -> None:
    """In a game that cancels, neither copy is high and both say why."""
    story = Story("cancellation", players=6).deal("2C").exchange("2C", "3C").play(0, "KC KC 9C")
    lines = drawn(seats_view(story.settle(turn=3, hand="3C"), WIDE))
    assert "K♣ led, cancelled" in lines[1]
    assert "K♣ cancelled" in lines[2]
    assert "9♣ high" in lines[3]
    assert "cancelled" not in lines[3]


def test_who_has_passed_is_told_while_others_choose() -> None:
    """Passing hides the cards and shows who is still to choose."""
    story = Story().deal("2C 3C 4C").happens("cards_passed", seat=2, cards="", by="bot")
    lines = drawn(seats_view(story.settle("pass", hand="2C 3C 4C"), WIDE))
    assert "choosing" in lines[1]
    assert "has passed" in lines[3]
    assert "▶▶ ▶" == "".join(line[0] for line in lines[1:])


def test_the_news_tell_of_hearts_and_the_queen() -> None:
    """Not seen, on the table, and then who took her; hearts broken by a knob of the rules."""
    story = Story().deal("2C").exchange("2C", "3C")
    assert " Hearts are not broken; Q♠ not seen yet" == news_line(story.scene, WIDE).plain
    story.play(1, "5C QS")
    assert " Hearts are broken; Q♠ is on the table" == news_line(story.scene, WIDE).plain
    story.play(3, "7C 8C", 0)
    assert " Hearts are broken; you took Q♠" == news_line(story.scene, WIDE).plain


def test_the_news_tell_of_two_queens_and_waiting_piles() -> None:
    """With two decks both queens are counted; a dead trick's cards wait, and the kitty waits with the first trick."""
    story = Story("cancellation", players=6).deal("2C").exchange("2C", "3C")
    assert "first trick takes the kitty of 2" in news_line(story.scene, WIDE).plain
    story.play(0, "QS QS KS KS AS AS", None)
    line = news_line(story.scene, WIDE).plain
    assert "2 of 2 seen" in line
    assert "6 cards of dead tricks wait" in line
    story.play(0, "2S 3S 4S 5S 6S 7S", 5)
    assert "Finn took Q♠, 2 of 2 seen" in news_line(story.scene, WIDE).plain


@pytest.mark.parametrize(
    ("variant", "players", "hand"),
    [
        ("standard", 3, SEVENTEEN),
        ("basic", 4, "2C 5C 9C 3D 7D TD KD 4S 8S QS 2H 6H TH"),
        ("standard", 7, "2C 5C 9C 3D 7D 4S 2H"),
        ("cancellation", 6, SEVENTEEN),
        ("cancellation", 11, "2C 2C 9C 9C 3D 4S 4S QS QS"),
    ],
)
@pytest.mark.parametrize("look", [WIDE, Look(120, 40), LETTERS])
def test_the_whole_screen_fits_the_terminal(variant: str, players: int, hand: str, look: Look) -> None:
    """Table, notes, hand and prompt of 3 to 11 seats fit 24 lines of 80 characters, the prompt's line included."""
    story = Story(variant, players=players).deal(hand)
    story.exchange(" ".join(hand.split()[:3]), " ".join(hand.split()[:3]))
    notes = [Text(f"note {number}") for number in range(9)]
    scene = story.settle(turn=0, hand=hand, legal=hand)
    body = frame(scene, look, title="x", notes=notes, choices=parse_cards(hand), prompt=Text("Your turn"))
    lines = drawn(body, look.width)
    assert len(lines) < look.height
    assert max(map(len, lines)) <= look.width
    assert " Your turn" == lines[-1]
    assert any("note 8" in line for line in lines)
    assert all(name in "\n".join(lines) for name in scene.names)


def test_a_name_cannot_steer_the_terminal() -> None:
    """Control characters of a name, and markup, are never carried out; a long one is cut."""
    story = Story(name="\x1b[2JEv[bold]\n\u202eabcdefghijk").deal("2C")
    text = "\n".join(drawn(seats_view(story.settle("pass", hand="2C"), WIDE)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\ufffd[2JEv[bold]" in text
    assert "hijk" not in text


def test_two_players_of_one_name_can_be_told_apart() -> None:
    """The second one carries its seat's number; bots never take a player's name."""
    story = Story(name="Bo")
    story.seats[1] = SeatInfo(1, "player", "Bo", ready=True)
    names = story.settle("seats").names
    assert ["Bo", "Bo 1", "Cleo", "Dag"] == names


LONG = "Bartholomew Montgomery the Third of Kent"


@pytest.mark.parametrize("width", [72, 80, 120])
@pytest.mark.parametrize(
    ("variant", "players", "trick"), [("standard", 4, "TC 9C"), ("cancellation", 11, "TC TC 9C")]
)
def test_no_column_is_cut_off(width: int, variant: str, players: int, trick: str) -> None:
    """Given the longest name and the longest words about a card, then every heading and number stands in full."""
    story = Story(variant, players=players, name=LONG).deal("2C 5C 9C").play(1, trick)
    lines = drawn(seats_view(story.settle(hand_number=1, turn=0), Look(width, 24)), width)
    assert ["seat", "trick", "last", "trick", "tricks", "hand", "total", "cards"] == lines[0].split()
    assert players + 1 == len(lines)
    assert "…" not in "".join(lines[2:])


@pytest.mark.parametrize("width", [40, 60, 80])
def test_how_far_the_game_has_got_is_never_cut_off(width: int) -> None:
    """The title gives way: the seats, the target, and at last its end."""
    scene = Story("cancellation", players=11).deal("2C 5C 9C").settle(hand_number=1)
    line = title_line(scene, Look(width, 24), "The Grand Cancellation Hearts of the House").plain
    assert line.endswith("hand 1, passing ")
    assert width == len(line)
    assert line.startswith(" The Grand Cancell")


@pytest.mark.parametrize("width", [40, 80])
def test_words_are_wrapped_and_not_cut_off(width: int) -> None:
    """A long message and a long question are there to the last word, and the frame fits the terminal."""
    scene = Story("standard", name=LONG).deal("2C 5C 9C").settle(hand_number=1)
    message = Text(
        "number 99 is not there; cards are numbered 1 to 13, and each is written like qs or 10s, say"
    )
    prompt = Text(f"Pass 3 cards left, to {LONG} (names or numbers on one line, ? for help)")
    lines = drawn(frame(scene, Look(width, 24), notes=[message], choices=(), prompt=prompt), width)
    shown = " ".join(" ".join(lines).split())
    assert message.plain in shown
    assert prompt.plain in shown
    assert len(lines) <= 23


def test_a_word_that_is_too_long_to_wrap_is_cut() -> None:
    """It cannot be broken, and the line below stays where it is."""
    scene = Story("standard").deal("2C 5C 9C").settle(hand_number=1)
    lines = drawn(frame(scene, WIDE, notes=[Text("x" * 200), Text("after")]))
    assert 1 == sum("xxx" in line for line in lines)
    assert " after" in lines
