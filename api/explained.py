"""What each code of a refusal means, what its caller can do, and an example: the table behind OpenAPI and the docs page.

`api.errors.CODES` has the status and the title. A test wants every code explained here. The advice is also the hint of a
refusal that brings none of its own: it is the same whatever the table, so it tells nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple


class Told(NamedTuple):
    """A code for people. ``detail`` and ``hint`` are those of the example, ``extra`` its further members."""

    meaning: str
    advice: str
    detail: str
    hint: str = ""
    extra: Mapping[str, Any] = MappingProxyType({})


_AT: Final[dict[str, Any]] = {"seq": 57}
_AGAIN: Final = "read the table again, or send the command without If-Match"
_TOKEN: Final = "POST /v1/players gives you a token; send it as Authorization: Bearer TOKEN"


def _field(field: str, detail: str) -> dict[str, Any]:
    return {"errors": [{"field": field, "detail": detail}]}


EXPLAINED: Final[dict[str, Told]] = {
    "request/unreadable": Told(
        "The body is no JSON, breaks off or has a key twice; a query is no UTF-8; a header is not of its form.",
        "Mend what `detail` names. The request never got as far as the game.",
        "the body is no JSON: Input data was truncated",
        "send one object",
    ),
    "auth/required": Told(
        "The call needs a token and has none, or has one that is not known here.",
        "Send `Authorization: Bearer TOKEN` with the token that `POST /v1/players` gave you.",
        "this needs a token",
        _TOKEN,
    ),
    "auth/forbidden": Told(
        "The token is known, and lacks the scope that the call needs.",
        "Use a token with the scope that `detail` names.",
        "the token lacks the scope play",
    ),
    "hint/not_allowed": Told(
        "The table was opened without hints; rated ones are, unless somebody said otherwise.",
        "Play without; `hints` of the table tells beforehand.",
        "this table was opened without hints",
        extra=_AT,
    ),
    "invitation/wrong": Told(
        "The code invites to no seat at this table: it is another table's, or was copied with a fault.",
        "Ask who invited you for the address of the table and the code once more.",
        "this is no invitation to a seat at this table",
        "ask who invited you for the table and the code once more",
    ),
    "seat/not_yours": Told(
        "You have no seat here, name another's, or the stand-in bot plays yours at the moment.",
        "Sit down before the game starts; take your seat back with `POST .../seats/{seat}/back`.",
        "the stand-in bot plays your seat",
        "take the seat back first",
        _AT,
    ),
    "game/unknown": Told(
        "No game has this id.",
        "Take ids from `GET /v1/games` or from the answer that opened the table.",
        "there is no game of this id",
        "/v1/games lists them",
    ),
    "variant/unknown": Told(
        "No published variant has this name.",
        "Take names from `GET /v1/variants`.",
        "'bridge' is no published variant",
        "there are basic, standard, classic",
    ),
    "player/unknown": Told(
        "No player has this id.",
        "Take ids from the seats of a table, or from the answer of `POST /v1/players`.",
        "there is no player of this id",
    ),
    "token/unknown": Told(
        "You have no token of this id.",
        "List your tokens; one that was ended is gone.",
        "you have no token of this id",
    ),
    "token/too_many": Told(
        "You have as many tokens as a player may have.",
        "End one that you no longer need.",
        "you have too many tokens",
        "end one that you no longer need",
    ),
    "game/too_many": Told(
        "You have opened as many tables that are not over as a player may.",
        "Play one to its end, or leave one at which nobody else sits.",
        "you have opened too many tables that are not over",
        "play one to its end first",
    ),
    "log/unknown_leaf": Told(
        "The transparency log has no such leaf, or not in a tree of that size.",
        "Ask for a leaf below the size that the checkpoint tells.",
        "there is no such leaf in the log",
    ),
    "claim/not_certain": Told(
        "From what you can see, the rest of the tricks might still go to others.",
        "Play on, and claim when it is certain.",
        "the rest of the tricks is not certain",
        extra=_AT,
    ),
    "log/cut": Told(
        "The log has lost events that you have read: a store that was set back to an older copy.",
        "Read the table anew, and go on from its `seq`.",
        "the log of this game is shorter than it was",
        "read the table anew, and go on from its seq",
    ),
    "stream/too_slow": Told(
        "You did not read your stream for too long, and it was ended. It is told in the stream itself.",
        "Come back with the last cursor, and read as it comes.",
        "the stream was not read for a while",
        "come back with the last cursor",
    ),
    "server/busy": Told(
        "The read models lag behind, or the store's memory is nearly full. No new table is opened; games that have begun go on.",
        "Wait as many seconds as `Retry-After` says, and try again under the same `Idempotency-Key`.",
        "no new tables are opened at the moment",
        "try again in a moment; games that have begun go on",
    ),
    "server/stopping": Told(
        "The server is about to stop, and begins no more streams or long polls.",
        "Try again in a moment, with the cursor that you have.",
        "the server is about to stop",
        "try again in a moment",
    ),
    "move/unsigned": Told(
        "Your seat has a public key, so its moves are signed, and this one is not.",
        "Send `signed_seq` and `signature` with the move.",
        "the moves of this seat are signed",
        extra=_AT,
    ),
    "move/wrong_signature": Told(
        "The signature is not that of this move by the key of your seat.",
        "Sign game, seq and move as docs/spec/audit.md says, with the key that you sat down with.",
        "the signature does not fit the move",
        extra=_AT,
    ),
    "request/not_found": Told(
        "Nothing is served at this address.",
        "Compare the address with the calls above; a slash at the end makes it another one.",
        "there is nothing at this address",
        "all addresses are listed at /docs",
    ),
    "request/method_not_allowed": Told(
        "The address is served, by other methods.",
        "The header `Allow` lists them.",
        "the address does not take this method",
        "all addresses and their methods are listed at /docs",
    ),
    "request/not_acceptable": Told(
        "The header `Accept` leaves out every format of the answer.",
        "Accept `application/json`, or send no `Accept`.",
        "events come as application/json, and Accept asks for 'text/html'",
        "accept application/json, and wait by ?wait=30",
    ),
    "game/full": Told(
        "All seats are taken, or kept for others.",
        "Find another table: `GET /v1/games?status=open`.",
        "no seat is open to you at this table",
        extra=_AT,
    ),
    "game/not_over": Told(
        "What you ask for is there when the game is over.",
        "Wait for `status` `over`.",
        "the record is given out when the game is over",
        "the public events so far are in the proof file",
        _AT,
    ),
    "game/not_started": Told(
        "The cards are not dealt yet, or a seat is still open.",
        "Wait until all seats are taken and all are ready.",
        "the game has not started",
        "wait until all are ready",
        _AT,
    ),
    "game/over": Told(
        "The game has ended, and takes no more commands.",
        "Ask for a rematch, or open another table.",
        "the game is over",
        extra=_AT,
    ),
    "hand/not_over": Told(
        "You asked for cards of other seats, of a hand that is still played.",
        "Leave out `as` and `open`, or look back at a hand that is over.",
        "the cards of other seats are shown when their hand is over",
        "leave out as and open, or look at a hand that is over",
        _AT,
    ),
    "moon/not_now": Told(
        "Nobody has shot the moon, or another seat has, or the rules leave no choice.",
        "Send `moon` when the phase is `moon` and the turn is yours.",
        "nobody has shot the moon",
        extra=_AT,
    ),
    "pass/not_now": Told(
        "No cards are passed at the moment, or you have passed already.",
        "Send `pass` when the phase is `pass`, once.",
        "you have passed already, and wait for the others",
        extra=_AT,
    ),
    "play/hand_over": Told(
        "Every card of the hand has been played.",
        "Wait for the next hand; somebody has the moon to choose.",
        "every card of the hand has been played",
        extra=_AT,
    ),
    "play/not_your_turn": Told(
        "Another seat is to act, or the pass is not over.",
        "Wait until `turn` is your seat. The same move may be sent again then.",
        "it is the turn of seat 2",
        extra=_AT,
    ),
    "seat/taken": Told(
        "The seat is taken, kept, or fixed because somebody is ready; or you have one already; or the time to get ready is over.",
        "Choose another seat, or leave `seat` out for any that is free.",
        "seat 1 is taken",
        "choose an open seat, or none for any",
        _AT,
    ),
    "version/stale": Told(
        "The table has moved on since the version of your `If-Match`. Nothing was done.",
        "Read the table, decide again, and send the new ETag or none.",
        "the table is at event 57, not at the version of If-Match",
        _AGAIN,
        _AT,
    ),
    "request/too_large": Told(
        "The body is larger than any that is taken.",
        "Send at most 64 KiB.",
        "the body is too large",
        "a body has at most 64 KiB",
    ),
    "request/media_type": Told(
        "The body is not said to be JSON.",
        "Send JSON in UTF-8 with `Content-Type: application/json`.",
        "the body is 'text/plain'",
        "send JSON in UTF-8, with Content-Type: application/json",
    ),
    "entropy/repeated": Told(
        "Another seat has made the same commitment.",
        "Commit to 32 fresh random bytes of your own.",
        "this commitment is at the table already",
        "commit to 32 fresh random bytes of your own",
        _AT,
    ),
    "entropy/wrong_opening": Told(
        "The bytes do not open the commitment you made as you sat down.",
        "Send the 32 bytes themselves, in lower-case hex; leave `entropy` out where you made none.",
        "this does not open the commitment made when sitting down",
        "send the 32 bytes committed to in lower-case hex, or nothing where none were",
        _AT,
    ),
    "key/reused": Told(
        "You sent another request under this `Idempotency-Key` within the last day.",
        "Make a fresh key for each new request; repeat a request under its own.",
        "this Idempotency-Key was sent with another request before",
        "use a fresh key for each new request, and the same one only to repeat it",
    ),
    "pass/wrong_cards": Told(
        "Not as many cards as are passed, or not all of them yours.",
        "Pass `pass_count` cards of your `hand`, each copy once.",
        "a pass is 3 of the cards held, each copy once",
        "pass exactly 3 cards of your hand",
        _AT,
    ),
    "play/hearts_not_broken": Told(
        "Hearts may not be led before one of them has been discarded.",
        "Play one of `legal`.",
        "4H: seat 3 may not lead hearts before they are broken",
        "play one of 4C 9D",
        {"legal": "4C 9D", **_AT},
    ),
    "play/must_follow_suit": Told(
        "You hold a card of the suit that was led, and play another suit.",
        "Play one of `legal`.",
        "QS: seat 3 holds clubs",
        "play one of 4C 9C",
        {"legal": "4C 9C", **_AT},
    ),
    "play/must_open_with": Told(
        "The hand is opened with one certain card, the lowest club of these rules.",
        "Play the card of `legal`.",
        "4C: seat 3 must open the hand with 2C",
        "play one of 2C",
        {"legal": "2C", **_AT},
    ),
    "play/not_in_hand": Told(
        "The card is not, or no longer, in your hand.",
        "Play one of `legal`; after a double click the first card lies on the table.",
        "QS: seat 3 does not hold it",
        "play one of 4C 9D",
        {"legal": "4C 9D", **_AT},
    ),
    "play/penalty_on_first_trick": Told(
        "On the first trick these cards may not be discarded.",
        "Play one of `legal`.",
        "QS: seat 3 may not discard it on the first trick",
        "play one of 9D",
        {"legal": "9D", **_AT},
    ),
    "play/penalty_opening_lead": Told(
        "The first trick of a hand may not be led with this card.",
        "Play one of `legal`.",
        "4H: seat 3 may not open the hand with it while it holds another card",
        "play one of 4C 9D",
        {"legal": "4C 9D", **_AT},
    ),
    "request/invalid": Told(
        "Read, and not what the call takes: a field that is unknown, missing, of another kind or out of bounds.",
        "`errors` tells every one that is wrong, by its path.",
        "seat: must be greater than or equal to 0 and less than or equal to 10",
        extra=_field("seat", "seat: must be greater than or equal to 0 and less than or equal to 10"),
    ),
    "rules/invalid": Told(
        "The rule set cannot be played as it is.",
        "`errors` tells everything that is wrong with it; `/v1/variants` has rule sets that can.",
        "basic is not played with 10 seats; it is with 4",
        "/v1/variants has every published rule set by value",
        {"errors": [{"detail": "basic is not played with 10 seats; it is with 4"}]},
    ),
    "rate/limited": Told(
        "You ask more often, or for more at a time, than this server lets you.",
        "Wait as many seconds as `Retry-After` says. A command repeated under its `Idempotency-Key` is safe.",
        "this process lets 48 requests wait at a time",
        "ask again in a second, or without wait",
    ),
    "game/altered": Told(
        "The store holds other events of this game than were played, or some that cannot be read. Nothing is signed for it.",
        "To ask again does not help: tell whoever runs the server. Keep your receipts, and any proof file of the game that"
        " you have: they show what was played.",
        "what the store holds of this game is not what was written there",
    ),
    "log/altered": Told(
        "The store holds another transparency log than was written there. Nothing is signed for it.",
        "To ask again does not help: tell whoever runs the server, and keep the checkpoints that you have.",
        "what the store holds of the transparency log is not what was written there",
    ),
    "server/error": Told(
        "A fault of the server; it is in its log. Nothing that a client sends should lead here.",
        "Try again later, a command under the same `Idempotency-Key`.",
        "The request failed, and the failure was logged.",
        "try again later",
    ),
    "store/unavailable": Told(
        "The store does not answer, takes no writes, or too few replicas have what was written.",
        "Try again in a moment, a command under the same `Idempotency-Key`: it is then done once at most.",
        "the store does not answer, so it is not known whether a command was carried out",
        "try again in a moment, and repeat a command under the same Idempotency-Key",
    ),
}
"""The codes of `api.errors.CODES`, for people."""
