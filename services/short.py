"""Public bytes of events as they lie in a stream: what all events of a kind begin with is one byte there.

Half of a card that is played is the name of the event and its number, which its entry's id has already. What begins
otherwise lies there as it is, and so do streams from before. The bytes that are chained and published are the whole ones:
nobody but `services.entries` and what copies streams sees these.
"""

from __future__ import annotations

from typing import Final

_NAMES: Final = (
    "game_created",
    "seat_taken",
    "seat_left",
    "seat_ready",
    "game_locked",
    "hand_dealt",
    "cards_passed",
    "passes_exchanged",
    "card_played",
    "trick_ended",
    "moon_chosen",
    "hand_scored",
    "hands_revealed",
    "seat_to_bot",
    "seat_taken_back",
    "key_rotated",
    "game_ended",
)
"""Stored: names are added at the end, and none is moved or taken out."""
_FIRST: Final = 0x80
"""From here to 0xBF are bytes that no text begins with."""
_PLAIN: Final = b"\xbf"
"""Before bytes that would be taken for short ones."""
_AT: Final = b'","at":'

_CODES: Final = {name.encode(): bytes((_FIRST + at,)) for at, name in enumerate(_NAMES)}
_BEGINNINGS: Final = {code: b',"t":"' + name + _AT for name, code in _CODES.items()}


def shortened(seq: int, public: bytes) -> bytes:
    """The public bytes of event ``seq`` as they are stored."""
    start = b'{"n":%d,"t":"' % seq
    if public.startswith(start):
        name, _, rest = public[len(start) :].partition(_AT)
        code = _CODES.get(name)
        if code is not None and len(public) > len(start) + len(name):
            return code + rest
    first = public[:1]
    return _PLAIN + public if first in _BEGINNINGS or first == _PLAIN else public


def lengthened(seq: int, stored: bytes) -> bytes:
    """The public bytes of event ``seq``, from those that are stored."""
    beginning = _BEGINNINGS.get(stored[:1])
    if beginning is not None:
        return b'{"n":%d%b%b' % (seq, beginning, stored[1:])
    return stored[1:] if stored[:1] == _PLAIN else stored
