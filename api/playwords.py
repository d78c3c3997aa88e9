"""What happens at a table, in words: pure functions from a `Scene` and its events to text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from api.playview import Look, card_text, cards_text, who
from api.scene import Scene
from domain.cards import Card, Seat, cards_of, parse_card
from services.printable import printable


def does(scene: Scene, seat: Seat, verb: str) -> str:
    """The beginning of a sentence about a seat: ``You play``, ``Bo plays``."""
    ending = "" if seat == scene.you else "es" if verb.endswith(("s", "ss", "sh")) else "s"
    name = who(scene, seat)
    return f"{name[:1].upper()}{name[1:]} {verb}{ending}"


def tell(scene: Scene, event: Mapping[str, Any], look: Look) -> list[Text]:
    """An event that ``scene`` has just followed, in words; none for what needs none."""
    match event["t"]:
        case "hand_dealt":
            return [deal_text(scene)]
        case "passes_exchanged" if scene.you is not None:
            giver = who(scene, scene.neighbour(-scene.tally.offset))
            return [Text(f"From {giver} you got ") + cards_text(cards_of(scene.received), look)]
        case "card_played":
            lead = "lead" if len(scene.tally.trick) == 1 else "play"
            text = Text(f"{does(scene, event['seat'], lead)} ") + card_text(parse_card(event["card"]), look)
            return [text.append({"clock": " (time is up)", "claim": " (claimed)"}.get(event["by"], ""))]
        case "trick_ended":
            return [trick_text(scene, look)]
        case "moon_chosen":
            return [
                Text(
                    f"{does(scene, event['seat'], 'choose')} to {printable(str(event['choice']))} the points of the moon"
                )
            ]
        case "seat_to_bot":
            return [Text(f"{does(scene, event['seat'], 'leave')}; the stand-in bot plays on")]
        case "seat_taken_back":
            return [Text(f"{does(scene, event['seat'], 'take')} the seat back")]
    return []


def deal_text(scene: Scene) -> Text:
    """The hand that begins, and what is passed to whom."""
    tally, count = scene.tally, scene.terms.rules.pass_count
    text = Text(f"Hand {tally.number}. ", "bold")
    if not tally.offset:
        return text.append("No cards are passed in this one.", "not bold")
    cards = "1 card" if count == 1 else f"{count} cards"
    return text.append(f"Pass {cards} {pass_words(scene)}", "not bold")


def pass_words(scene: Scene) -> str:
    """The direction of the pass in words."""
    offset, seats = scene.tally.offset, scene.players
    way = (
        "left" if offset == 1 else "right" if offset == seats - 1 else "across" if 2 * offset == seats else ""
    )
    if scene.you is None:
        return way
    return f"{way}, to {who(scene, scene.neighbour(offset))}".lstrip(", ")


def trick_text(scene: Scene, look: Look) -> Text:
    """Who took the last trick, and what was in it that counts."""
    last = scene.last_trick
    if last is None:
        return Text("No trick of this hand is finished yet.")
    taker = last[2]
    if taker is None:
        return Text("The cards cancel: nobody takes the trick")
    counting = [card for card in _won(scene) if scene.terms.values[card]]
    text = Text(f"{does(scene, taker, 'take')} the trick", "bold")
    if counting:
        worth = sum(scene.terms.values[card] for card in counting)
        text.append(f", {worth} point{'' if worth == 1 else 's'}: ", "not bold")
        text.append(cards_text(counting, look))
    return text


def _won(scene: Scene) -> list[Card]:
    """The cards of the last trick, and of the dead ones right before it."""
    cards: list[Card] = []
    for _, trick, taker in reversed(scene.tally.history):
        if cards and taker is not None:
            break
        cards += trick
    return sorted(cards)


def last_text(scene: Scene, look: Look) -> Text:
    """The last trick card by card, in the order laid."""
    last = scene.last_trick
    if last is None:
        return trick_text(scene, look)
    laid = [Text(f"{who(scene, seat)} ") + card_text(card, look) for seat, card in scene.last_laid().items()]
    taker = "nobody took it" if last[2] is None else f"{who(scene, last[2])} took it"
    return Text("Last trick: ") + Text(", ").join(laid) + Text(f"; {taker}")


def waiting_text(scene: Scene, invitation: str = "") -> Text:
    """Whom the table waits for; ``invitation`` is how others come to an open seat."""
    table = scene.table
    open_seats = sum(seat.kind == "open" for seat in table.seats)
    if table.phase == "seats" and open_seats:
        players = "player" if open_seats == 1 else "players"
        return Text(f"Waiting for {open_seats} more {players}. {invitation}".rstrip(), "dim")
    if table.phase == "seats":
        late = [scene.names[seat.seat] for seat in table.seats if not seat.ready]
    elif table.phase == "pass":
        late = [scene.names[seat] for seat in range(scene.players) if seat not in scene.passed]
    else:
        late = [] if table.turn is None else [scene.names[table.turn]]
    return Text(f"Waiting for {', '.join(late)}" if late else "Waiting", "dim")
