"""What stands beside the table: sentences about events, scores, rules, the moon, the end."""

from __future__ import annotations

import re

import pytest

from api.client import Problem, VariantInfo
from api.playpages import (
    end_page,
    hand_result,
    help_page,
    listed,
    moon_page,
    problem_text,
    rules_page,
    score_sheet,
    variants_page,
)
from api.playview import Look
from api.playwords import last_text, pass_words, tell, waiting_text
from domain.cards import NAMES, format_cards
from domain.variants import VARIANTS
from services.rules_text import summary, tell_rules
from tests.api.stories import WIDE, Story, drawn, won_by

DECK = " ".join(NAMES)
LETTERS = Look(80, 24, signs=False)


def told(story: Story) -> list[str]:
    """The last event in words."""
    return [note.plain for note in tell(story.scene, story.last, WIDE)]


# --- words


@pytest.mark.parametrize(
    ("variant", "players", "hand", "words"),
    [
        ("basic", 4, 1, "left, to Bo"),
        ("basic", 4, 2, "right, to Dag"),
        ("basic", 4, 3, "across, to Cleo"),
        ("standard", 3, 2, "right, to Cleo"),
        ("standard", 7, 2, "right, to Greta"),
        ("cancellation", 11, 2, "right, to Kaja"),
    ],
)
def test_the_pass_has_a_direction_and_a_name(variant: str, players: int, hand: int, words: str) -> None:
    """Left, right and across, and who sits there."""
    story = Story(variant, players=players).deal("2C", hand)
    assert words == pass_words(story.scene)
    assert f"Pass 3 cards {words}" in told(story)[0]


def test_a_hold_hand_says_so() -> None:
    """No pass, no direction."""
    assert ["Hand 4. No cards are passed in this one."] == told(Story("basic").deal("2C", 4))


def test_events_are_told_in_words() -> None:
    """Who gave what, who played, who took the trick and what counted in it."""
    story = Story().deal("2C KH").exchange("KH", "QS AH")
    assert ["From Dag you got Q♠ A♥"] == told(story)
    assert ["You lead 2♣"] == told(story.play(0, "2C"))
    assert ["Bo plays 10♣"] == told(story.play(1, "TC"))
    story.play(2, "QS 3H", 1)
    assert ["Bo takes the trick, 14 points: Q♠ 3♥"] == told(story)
    assert "Last trick: you 2♣, Bo 10♣, Cleo Q♠, Dag 3♥; Bo took it" == last_text(story.scene, WIDE).plain
    assert ["You choose to add the points of the moon"] == told(
        story.happens("moon_chosen", seat=0, choice="add", by="player")
    )
    assert ["Cleo leaves; the stand-in bot plays on"] == told(story.happens("seat_to_bot", seat=2))
    assert ["Cleo takes the seat back"] == told(story.happens("seat_taken_back", seat=2))
    assert [] == told(story.happens("something_new", seat=2))


def test_a_card_that_the_clock_played_says_so() -> None:
    """A player sees that the move was not its own."""
    story = Story().deal("2C").happens("card_played", seat=0, card="2C", by="clock")
    assert ["You lead 2♣ (time is up)"] == told(story)


def test_a_dead_trick_goes_to_the_next_taker() -> None:
    """Nobody takes the dead one; the next taker's points include it."""
    story = Story("cancellation", players=6).deal("2C").exchange("2C", "3C")
    assert ["The cards cancel: nobody takes the trick"] == told(story.play(0, "KC KC QC QC 2H 3H", None))
    assert ["Bo takes the trick, 3 points: 2♥ 3♥ 4♥"] == told(story.play(0, "2C 9C 3C 4C 5C 4H", 1))
    assert 3 == story.scene.points_so_far(1)


def test_waiting_names_those_who_are_waited_for() -> None:
    """Open seats with how to come, late passers, and whose turn it is."""
    story = Story()
    story.seats[2] = type(story.seats[2])(2, "open", "")
    assert "Waiting for 1 more player. Come!" == waiting_text(story.settle("seats"), "Come!").plain
    story = Story().deal("2C").happens("cards_passed", seat=1, cards="", by="bot")
    assert "Waiting for Anna, Cleo, Dag" == waiting_text(story.settle("pass", hand="2C")).plain
    assert "Waiting for Dag" == waiting_text(story.settle("play", hand="2C", turn=3)).plain


# --- scores and the end


def test_a_moon_is_marked_in_the_score_sheet() -> None:
    """Who took all penalty cards is marked, by what was taken and not by the points."""
    story = won_by(2, Story("basic").deal(DECK[:38], 4), DECK)
    story.score([26, 26, 0, 26], [26, 26, 0, 26], hand=4)
    lines = drawn(score_sheet(story.scene, WIDE))
    assert ["4", "26", "26", "☾", "0", "26"] == lines[1].split()
    assert ["total", "26", "26", "0", "26"] == lines[2].split()
    assert "☾ shot the moon" == lines[3]
    assert "Cleo shot the moon in hand 4!" == hand_result(story.scene).plain
    assert "(moon) 0" in "\n".join(drawn(score_sheet(story.scene, LETTERS)))


def test_a_hand_of_the_same_points_without_the_cards_is_no_moon() -> None:
    """Thirteen hearts without the queen are no moon, whatever the points say."""
    story = Story("basic").deal("2C", 4)
    story.play(0, "QS 2S 3S 4S", 1).score([0, 13, 5, 8], [0, 13, 5, 8], hand=4)
    assert "moon" not in "\n".join(drawn(score_sheet(story.scene, WIDE)))
    assert "Hand 4: 13 to Bo, 0 to you." == hand_result(story.scene).plain


def test_a_moon_needs_the_kitty() -> None:
    """A penalty card of the kitty counts for whoever took the first trick."""
    story = Story("basic", hand=12).deal("2C", 4)
    kitty, played = format_cards([51, 50, 49, 48]), " ".join(NAMES[:48])
    won_by(3, story, played).score([26, 26, 26, 0], [26, 26, 26, 0], hand=4, kitty=kitty)
    assert 3 == story.scene.scored[0].shooter


@pytest.mark.parametrize("players", [6, 11])
def test_a_score_sheet_of_many_seats_fits(players: int) -> None:
    """Names are cut, never columns; only the latest hands are shown where not all fit."""
    story = Story("cancellation", players=players)
    totals = [0] * players
    for hand in range(1, 31):
        totals = [total + 11 for total in totals]
        story.deal("2C", hand).score([11] * players, totals, hand=hand)
    lines = drawn(score_sheet(story.scene, WIDE))
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    assert "the last 16 of 30 hands" == lines[0]
    assert [["330"] * players, "30"] == [lines[-1].split()[1:], lines[-2].split()[0]]


def test_both_outcomes_of_a_moon_are_shown() -> None:
    """What everybody would stand at, and whether the game would end and who would win it."""
    story = Story("standard").deal("2C", 1).score([70, 90, 80, 20], [70, 90, 80, 20])
    won_by(0, story.deal("2C", 4), DECK)
    scene = story.settle("moon", turn=0)
    page = drawn(moon_page(scene, WIDE, scene.moon_outcome("add"), scene.moon_outcome("subtract")))
    rows = [" ".join(line.split()) for line in page]
    assert ["Anna 70 70 44", "Bo 90 116 90", "Cleo 80 106 80", "Dag 20 46 20"] == rows[2:6]
    assert "1 add: 26 to everybody else; then the game is over and Dag wins." in rows
    assert "2 subtract: 26 from your own total; then the game goes on." in rows


def test_a_bonus_counts_beside_the_moon() -> None:
    """The jack of diamonds of Omnibus is taken off whoever took it, moon or not."""
    scene = won_by(0, Story("omnibus").deal("2C", 4), DECK).settle("moon", turn=0)
    assert [-10, 26, 26, 26] == scene.moon_outcome("add").totals
    assert [-36, 0, 0, 0] == scene.moon_outcome("subtract").totals


@pytest.mark.parametrize(
    ("totals", "winners", "headline"),
    [
        ([30, 100, 55, 60], [0], "You win with 30 points."),
        ([90, 100, 55, 60], [2], "Cleo wins with 55 points."),
        ([30, 100, 30, 60], [0, 2], "You and Cleo share the win with 30 points."),
        ([30, 30, 30, 100], [0, 1, 2], "You, Bo and Cleo share the win with 30 points."),
        ([30, 30, 30, 90], [], "The game was abandoned; nobody wins."),
    ],
)
def test_the_end_names_the_winners(totals: list[int], winners: list[int], headline: str) -> None:
    """One winner, several, or none; everybody is placed."""
    story = Story().deal("2C").score(totals, totals)
    lines = drawn(end_page(story.settle("over", winners=winners), WIDE))
    assert headline == lines[0]
    assert [sorted(totals)] == [[int(line.split()[-1]) for line in lines[2:6]]]


def test_names_are_listed_as_in_a_sentence() -> None:
    """Commas, and an and before the last."""
    assert ["", "a", "a and b", "a, b and c"] == [listed("abc"[:n]) for n in range(4)]


# --- rules, refusals, help


@pytest.mark.parametrize("name", VARIANTS)
def test_the_rules_of_every_family_are_told(name: str) -> None:
    """Under its title, on lines of 80 characters; without signs for suits the cards are spelt."""
    rules = VARIANTS[name].rules()
    lines = drawn(rules_page(rules, WIDE))
    assert f"{VARIANTS[name].title} ({name})" == lines[0]
    assert max(map(len, lines)) <= 80
    told = " ".join(" ".join(section.sentences) for section in tell_rules(rules))
    wide = "\n".join(drawn(rules_page(rules, WIDE), width=2000))
    assert all(sentence in wide for section in tell_rules(rules) for sentence in section.sentences)
    plain = "\n".join(drawn(rules_page(rules, Look(signs=False)), width=2000))
    assert ("♠" in told) == ("♠" in wide)
    assert "♠" not in plain


def test_a_refusal_is_told_in_the_servers_words() -> None:
    """Detail and hint; all errors where there are several; nothing that steers the terminal."""
    one = Problem(422, "play/must_follow_suit", "9H: seat 0 holds \x1bclubs", "play one of 2C")
    assert ["9H: seat 0 holds \ufffdclubs", "play one of 2C"] == [line.plain for line in problem_text(one)]
    many = Problem(422, "rules/invalid", "a; b", "", "", ["a", "b"])
    assert ["a", "b"] == [line.plain for line in problem_text(many)]


def test_the_list_of_variants_says_what_sets_each_apart() -> None:
    """A row for each, with its seats."""
    rows = [
        VariantInfo(one.name, {}, one.title, summary(one.rules()), [*one.seats]) for one in VARIANTS.values()
    ]
    text = "\n".join(drawn(variants_page(rows)))
    assert re.search(r"standard +3-7 ", text)
    assert re.search(r"cancellation +6-11 ", text)
    assert re.search(r"basic +4 ", text)


def test_help_fits_the_screen_and_names_every_command() -> None:
    """All that can be typed."""
    lines = drawn(help_page(WIDE))
    assert len(lines) < 20
    assert {"score", "last", "hand", "rules", "quit", "Enter"} <= {line.split()[0] for line in lines if line}


def test_a_choice_that_steers_the_terminal_is_no_more_than_shown() -> None:
    """A server may say anything of the moon."""
    (told,) = tell(
        Story().deal("2C").scene, {"t": "moon_chosen", "seat": 0, "choice": "\x1b[2J\n"}, Look(signs=False)
    )
    assert told.plain.isprintable()
