"""The marshmallow schemas of what ``/v1`` takes. They read requests, and the OpenAPI document is made of them.

What is sent is described in `api.answers`. Rules of the game are not judged here: a rule set is read by
`domain.variants`, a card by `domain.cards`.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, Final

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate

from api.knobs import KNOBS, MAY_BE_NULL
from domain.bots import BOTS
from domain.cards import parse_card
from domain.commands import ABANDON_SECONDS, ABANDONED_AFTER, LONGEST_CLOCK, READY_SECONDS
from domain.knobs import MOST_HANDS, MOST_SEATS
from domain.refusals import Malformed
from domain.ruleset import KEYS
from domain.variants import CUSTOM, VARIANTS
from services.players import LONGEST_NAME, clean_name
from services.signing import check_public_key

"""Cards that a seat is dealt."""
LONGEST_IF_MATCH: Final = 1024
"""Characters of the versions that a command names."""
LONGEST_WAIT: Final = 30
"""Seconds a long poll may last."""
LARGEST_PAGE: Final = 100
"""Games of a page."""
MOST_EVENTS: Final = 1000
"""Events of an answer."""
STATUSES: Final = ("open", "playing", "over")

_HEX: Final = re.compile(r"[0-9a-f]{64}")
INVITATION: Final = "[0-9a-f]{24}"
"""The form of the code of an invitation."""
_NUMBER: Final = re.compile(r"[0-9]{1,16}")
LARGEST_AFTER: Final = 10**15 - 1
"""The largest number that a query can say."""
CARD_DOC: Final = {"pattern": "^(?:[2-9TJQKA]|10)[CDSH]$", "example": "QS"}


class Request(Schema):
    """The root of what is taken. Unknown fields are told by the reader, with the nearest known one."""

    class Meta:
        """Unknown fields are `api.inputs`' to refuse."""

        unknown = EXCLUDE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.names = frozenset(field.data_key or name for name, field in self.load_fields.items())
        """The fields as they are called in JSON."""


class Judged:
    """A field that says itself what it takes, and takes nothing else that may pass for it.

    marshmallow's own fields are made for forms, and read a text as a number or ``"yes"`` as true.
    """

    def judge(self, value: Any) -> Any:
        """``value`` as it is meant. Raises `ValidationError`."""
        raise NotImplementedError

    def _deserialize(self, value: Any, *_args: Any, **_options: Any) -> Any:
        return self.judge(value)


class Whole(Judged, fields.Integer):
    """A whole number, and neither a boolean nor a text."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if type(value) is not int:
            raise ValidationError("not a whole number")
        return value


class QueryWhole(Judged, fields.Integer):
    """A whole number from 0 in a query, in ASCII digits."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if _NUMBER.fullmatch(value) is None:
            raise ValidationError("not a whole number")
        return int(value)


class Flag(Judged, fields.Boolean):
    """``true`` or ``false``, and nothing that may pass for them."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if value is not True and value is not False:
            raise ValidationError("not true or false")
        return value


class CardField(Judged, fields.String):
    """A card."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        try:
            return parse_card(value)
        except Malformed as error:
            raise ValidationError(str(error)) from error


class Commitment(Judged, fields.String):
    """32 bytes in lower-case hex."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if not isinstance(value, str) or _HEX.fullmatch(value) is None:
            raise ValidationError("not 32 bytes in lower-case hex, which are 64 digits")
        return value


class PublicKey(Judged, fields.String):
    """The Ed25519 key that a seat signs its moves with."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        try:
            check_public_key(value if isinstance(value, str) else "")
        except Malformed as error:
            raise ValidationError(str(error)) from error
        return value


class Signature(Judged, fields.String):
    """64 bytes in lower-case hex."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if not isinstance(value, str) or len(value) != 128 or set(value) - set("0123456789abcdef"):
            raise ValidationError("not 64 bytes in lower-case hex, which are 128 digits")
        return value


class Invitation(Judged, fields.String):
    """The code of an invitation."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if not isinstance(value, str) or re.fullmatch(INVITATION, value) is None:
            raise ValidationError("not an invitation, which is 24 digits in lower-case hex")
        return value


class NameField(Judged, fields.String):
    """The name of a player, or of something else that is named like one."""

    what = "name"
    clean = staticmethod(clean_name)

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if not isinstance(value, str):
            raise ValidationError("not a text")
        try:
            return self.clean(value)
        except Malformed as error:
            raise ValidationError(str(error).replace("a name", f"a {self.what}")) from error


class SeatField(Judged, fields.Field[Any]):
    """How a seat of a new table is filled: a pair of what (``open``, ``invited``, ``me``, ``bot``, ``player``) and which."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if value in ("open", "invited", "me"):
            return value, ""
        if isinstance(value, dict) and len(value) == 1:
            what, which = next(iter(value.items()))
            if what == "bot" and isinstance(which, str):
                return what, _known_bot(which)
            if what == "player" and isinstance(which, str) and len(which) <= 64:
                return what, which
        raise ValidationError('a seat is "open", "invited", "me", {"bot": "rules"} or {"player": id}')


class Knob(fields.Raw):
    """A field of a rule set, judged with the rest of it by `domain.variants.ruleset_of`."""


def _known_bot(name: str) -> str:
    if name not in BOTS:
        near = get_close_matches(name[:40], BOTS, n=1)
        told = f"did you mean {near[0]}?" if near else f"there are {', '.join(BOTS)}"
        raise ValidationError(f"no bot is called {name!r:.40}; {told}")
    return name


def _one_key(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": f"of_{name}",
        "type": "object",
        "properties": {name: value},
        "required": [name],
        "additionalProperties": False,
    }


_COMMIT_DOC: Final = {
    "description": "a commitment to 32 random bytes of your own, which take part in the shuffle",
    "pattern": "^[0-9a-f]{64}$",
}
_KEY_DOC: Final = {
    "description": "the Ed25519 key that signs each move of your seat; without one, moves are not signed",
    "pattern": "^[0-9a-f]{64}$",
}
Knobs: Final[type[Schema]] = Request.from_dict(
    {key: Knob(allow_none=key in MAY_BE_NULL, metadata=KNOBS[key]) for key in KEYS if key != "variant"},
    name="Knobs",
)


class NewPlayer(Request):
    """Who wants to play."""

    name = NameField(
        required=True,
        metadata={
            "description": f"1 to {LONGEST_NAME} characters that can be seen",
            "example": "Anna",
            "minLength": 1,
            "maxLength": LONGEST_NAME,
        },
    )


class NewTable(Knobs):  # type: ignore[valid-type,misc]
    """A table to be opened: a variant, what is changed of its rules, and the seats."""

    variant = fields.String(
        required=True,
        validate=validate.Length(max=40),
        metadata={"description": f"{', '.join(VARIANTS)} or {CUSTOM}", "example": "standard"},
    )
    seats = fields.List(
        SeatField(
            metadata={
                "oneOf": [
                    {"title": "plain", "type": "string", "enum": ["open", "invited", "me"]},
                    _one_key("bot", {"type": "string", "enum": [*BOTS]}),
                    _one_key("player", {"type": "string", "maxLength": 64}),
                ]
            }
        ),
        required=True,
        validate=validate.Length(min=1, max=MOST_SEATS),
        metadata={"description": "one entry a seat, clockwise", "example": ["me", *[{"bot": "rules"}] * 3]},
    )
    clock = Whole(
        allow_none=True,
        validate=validate.Range(1, LONGEST_CLOCK),
        metadata={
            "description": "seconds for a move, after which the house makes it; none unless you say so"
        },
    )
    ready_seconds = Whole(
        load_default=60,
        validate=validate.Range(*READY_SECONDS),
        metadata={"description": "seconds from the first who is ready until the deal"},
    )
    abandon_seconds = Whole(
        load_default=ABANDONED_AFTER,
        validate=validate.Range(*ABANDON_SECONDS),
        metadata={
            "description": "seconds without an event after which the table ends, while it waits for persons "
            "and no clock runs; a week unless you say so"
        },
    )
    chain = Whole(
        load_default=64,
        validate=validate.Range(1, MOST_HANDS),
        metadata={"description": "hands the first event commits the shuffles of, the most the game can have"},
    )
    hints = Flag(
        allow_none=True,
        load_default=None,
        metadata={"description": "whether players may ask for hints; not at rated tables, unless you say so"},
    )
    rated = Flag(load_default=False, metadata={"description": "refuses overrides other than players"})
    entropy_commit = Commitment(allow_none=True, load_default=None, metadata=_COMMIT_DOC)
    public_key = PublicKey(allow_none=True, load_default=None, metadata=_KEY_DOC)


class SitDown(Request):
    """A seat to take."""

    seat = Whole(
        allow_none=True,
        load_default=None,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "the first that is free to you unless you say so"},
    )
    invitation = Invitation(
        allow_none=True,
        load_default=None,
        metadata={
            "description": "the code of an invitation, which names its seat",
            "pattern": f"^{INVITATION}$",
        },
    )
    entropy_commit = Commitment(allow_none=True, load_default=None, metadata=_COMMIT_DOC)
    public_key = PublicKey(allow_none=True, load_default=None, metadata=_KEY_DOC)


class Rematch(Request):
    """Your seat in a rematch."""

    entropy_commit = Commitment(allow_none=True, load_default=None, metadata=_COMMIT_DOC)
    public_key = PublicKey(allow_none=True, load_default=None, metadata=_KEY_DOC)


class Ready(Request):
    """Readiness, and what opens the commitment made when sitting down."""

    entropy = fields.String(
        allow_none=True,
        load_default="",
        validate=validate.Length(max=64),
        metadata={
            "description": "the 32 bytes committed to, in lower-case hex; leave it out if there were none"
        },
    )


class Move(Request):
    """Exactly one of a pass, a play and a moon choice; signed where your seat has a `public_key`."""

    passed = fields.List(
        CardField(metadata=CARD_DOC),
        data_key="pass",
        validate=validate.Length(max=104),
        metadata={"description": "the cards you pass", "example": ["AS", "KS", "QS"]},
    )
    play = CardField(metadata={"description": "the card you play", **CARD_DOC})
    moon = fields.String(
        validate=validate.OneOf(["add", "subtract"]),
        metadata={"description": "what the moon you have shot does: add to the others, or subtract from you"},
    )
    signed_seq = Whole(
        validate=validate.Range(1, LARGEST_AFTER),
        metadata={"description": "the event whose head is signed: `seq` of a table has its `head`"},
    )
    signature = Signature(
        metadata={
            "description": "by the `public_key` of your seat, of the move and the history up to `signed_seq`",
            "pattern": "^[0-9a-f]{128}$",
        }
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._plays: dict[str, Any] = {}

    def load(self, data: Any, *args: Any, **options: Any) -> Any:
        """As any schema loads; a play alone, the most frequent body of all, is remembered once it was found right.

        That must say what marshmallow says, which takes a tenth of a move's time to say it; tests compare them.
        """
        name = data.get("play") if len(data) == 1 and not args and not options else None
        if type(name) is not str:
            return super().load(data, *args, **options)
        if name not in self._plays:
            self._plays[name] = super().load(data)["play"]
        return {"play": self._plays[name]}


class Nothing(Request):
    """A command that its address says whole."""
