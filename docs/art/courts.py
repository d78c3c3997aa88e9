"""Jacks, queens and kings."""

from __future__ import annotations

import math
from typing import Final

from faces import card
from figure import (
    AXIS,
    HAIR,
    RED,
    SILVER,
    SKIN,
    cloth,
    face,
    faces,
    hand,
    panel,
    sash,
    scene,
    woven,
)
from motifs import leaf, light, shade, star
from pen import GOLD, INK, OWN, PAPER, SUITS, TURN, both, disc, dots, group, line, path, tag, use, whole
from regalia import ATTRIBUTES, crown


def court_parts() -> list[str]:
    """What several court cards share."""
    return [
        *faces(), panel(), hand(), _cape(), _collar(),
        *(sash(rank) for rank in "JQK"),
        *(draw(suit) for draw in (scene, woven) for suit in SUITS),
    ]  # fmt: skip


def court(rank: str, suit: str) -> str:
    """A court card."""
    name = rank + suit
    night = name == "QS"
    field = use("panel", fill_opacity=None if night else ".1")
    behind = use(f"g{suit}", fill=GOLD if night else None, fill_opacity=".9" if night else ".18")
    body = {"K": _king, "Q": _queen, "J": _jack}[rank](suit)
    grip = use("hand", fill=SKIN[suit])
    person = group(
        [body, ATTRIBUTES[name](), grip], stroke=PAPER, stroke_width="1.6", stroke_linejoin="round"
    )
    half = group([group([behind, person], transform=f"translate({AXIS})")], id=f"h{name}")
    frame = use("panel", fill="none", stroke=OWN, stroke_width="3")
    return card(rank, suit, field + half + use(f"h{name}", transform=TURN) + use(f"b{rank}") + frame)


# Kings

_BEARDS: Final = {
    "H": "M0 100C8 96 19 96 25 80C28 96 29 120 20 131C14 139 5 141 0 141",
    "D": "M0 100C8 97 17 97 24 80C27 98 24 118 12 134L0 156",
    "C": "M0 100C8 96 18 98 25 76C33 80 33 90 29 94C37 100 35 110 30 112C34 120 28 128 22 127C21 135 12 138 9 134C7 139 3 140 0 140",
    "S": "M0 100C8 96 18 97 24 80C28 98 30 126 24 150C18 146 8 136 0 124",
}
_LOCKS: Final = {
    "H": "M22 56C34 60 36 74 34 88C32 102 38 108 44 106C42 116 28 118 22 104z",
    "D": "M22 56H33L35 116Q28 122 20 112z",
    "C": "M22 56C36 54 40 66 35 72C42 78 40 88 34 90C38 98 32 104 22 100z",
    "S": "M22 56C34 62 38 84 42 120L32 116L22 100z",
}


def _cape() -> str:
    """The kings' ermine."""
    fur = path(whole("M0 130C12 130 22 124 24 112C46 117 66 126 74 144C52 158 24 164 0 164"), PAPER)
    tails = "".join(leaf(9, 0)(x, y) for x, y in ((30, 126), (48, 132), (40, 145), (60, 142), (22, 148)))
    hem = line("M-74 144C-52 158-24 164 0 164C24 164 52 158 74 144", GOLD, 3.5)
    return group([fur, hem, path(both(tails), INK, stroke="none")], id="cape")


def _collar() -> str:
    """The jacks' white collar and buttoned front."""
    linen = path(both("M0 132L4 118L22 112C32 118 40 124 44 132L20 146z"), PAPER)
    placket = path("M-8 140H8V186L-8 179z", GOLD) + dots([(0, 148), (0, 158), (0, 168)], 5, INK)
    return group([placket, linen], id="collar")


def _king(suit: str) -> str:
    hair = HAIR[suit]
    mouth = path("M-6 107Q0 110 6 107Q0 114-6 107z", RED, stroke="none")
    moustache = path(both("M0 101C7 96 15 99 20 108C12 110 4 109 0 104z"), hair)
    strands = line(both({
        "H": "M8 114Q10 124 6 134M17 106Q20 118 15 128", "D": "M6 114Q7 126 2 142M14 108Q15 118 9 130",
        "C": "M10 116Q14 122 10 128M22 104Q26 108 23 114M2 122Q0 128 2 132", "S": "M8 114Q12 126 20 138M17 106Q21 122 22 138",
    }[suit]), PAPER, 1.2, stroke_opacity=".6")  # fmt: skip
    return (
        path(both(_LOCKS[suit]), hair) + cloth(suit) + use("cape") + face("K", suit)
        + path(whole(_BEARDS[suit]), hair) + strands + mouth + moustache + crown(suit)
    )  # fmt: skip


# Queens

_TRESSES: Final = {
    "H": "M0 34C22 34 36 46 36 66C36 84 44 92 42 106C41 122 50 128 46 142C34 150 22 140 20 124V60H0",
    "D": "M0 36C20 36 31 46 31 64V108C31 112 26 114 22 112V60H0",
    "C": "M0 22C16 16 30 24 32 34C44 36 48 50 42 58C50 66 46 80 38 82C38 92 30 98 22 94V60H0",
    "S": "M0 26C28 26 42 48 44 78C46 108 58 130 66 150C50 156 30 150 22 128V60H0",
}


def _queen(suit: str) -> str:
    tress = path(whole(_TRESSES[suit]), "#4a4c78" if suit == "S" else HAIR[suit])
    neckline = path(whole("M0 156C16 150 28 136 32 123L12 118H0"), SKIN[suit])
    collar = line(both("M32 122C29 138 17 152 0 158"), GOLD, 3.5)
    count = 13 if suit == "S" else 9
    turns = (math.pi * (place / (count - 1) - 0.5) for place in range(count))
    beads = [(22 * math.sin(turn), 121 + 17 * math.cos(turn)) for turn in turns]
    rim = dots(beads, 5.6, INK) if suit == "S" else ""
    pearls = rim + dots(beads, 4.6, PAPER if suit in "SC" else OWN)
    return tress + cloth(suit) + neckline + collar + pearls + face("Q", suit) + _HEADDRESS[suit]()


def _fringe(d: str, colour: str) -> str:
    return path(both(d), colour)


def _queen_hearts() -> str:
    hair = _fringe("M0 50C14 50 26 58 25 80C20 70 12 64 0 62z", HAIR["H"])
    tiara = path(whole("M0 20C5 30 9 34 15 34C20 33 23 28 31 28C31 38 30 46 29 54Q15 47 0 47"), GOLD)
    return (
        hair + tiara + use("sH", 0, 38, 0.26, fill=OWN, stroke="none") + dots([(-18, 43), (18, 43)], 5.2, OWN)
    )


def _queen_diamonds() -> str:
    hair = _fringe("M0 48C14 48 25 56 25 76C18 72 6 66 0 58z", HAIR["D"])
    plaits = path(
        both("M22 106L32 104L34 114L30 122L34 130L30 138L33 146L26 152L21 144L25 136L21 128L25 120z"),
        HAIR["D"],
    )
    cap = path(whole("M0 19L16 28L30 24L31 52Q16 45 0 45"), GOLD)
    return (
        plaits
        + hair
        + cap
        + use("sD", 0, 35, 0.34, fill=OWN, stroke="none")
        + use("sD", 21, 39, 0.2, fill=OWN, stroke="none")
        + use("sD", -21, 39, 0.2, fill=OWN, stroke="none")
    )


def _queen_clubs() -> str:
    hair = _fringe("M0 46C14 46 26 54 25 74C18 66 8 62 0 62z", HAIR["C"])
    wreath = "".join(leaf(19, 62 - 4 * k)(7 + 9 * k, 48 - 0.5 * k + 1.4 * k * k) for k in range(4))
    return (
        hair + path(both(wreath), OWN) + path(disc(0, 47, 5), GOLD) + dots([(-26, 102), (26, 102)], 8, GOLD)
    )


def _queen_spades() -> str:
    hood = _fringe("M0 40C16 40 28 52 26 82C24 68 14 58 0 58z", "#4a4c78")
    hem = line(both("M0 58C14 58 24 68 26 82C30 104 40 124 52 148"), SILVER, 2)
    band = path(whole("M0 46Q16 46 29 56L28 64Q15 55 0 55"), GOLD)
    crescent = tag("path", d="M-17 20A20 20 0 1 0 17 20A17 17 0 1 1-17 20z", fill=GOLD)
    return hood + hem + crescent + band + path(star(7)(0, 28), PAPER, stroke="none")


_HEADDRESS: Final = {"H": _queen_hearts, "D": _queen_diamonds, "C": _queen_clubs, "S": _queen_spades}


# Jacks

_BOBS: Final = {
    "H": "M22 54C34 58 38 76 36 94C35 104 26 110 20 104z",
    "D": "M22 54H32V98Q28 106 20 102z",
    "C": "M20 54C34 50 40 62 34 70C40 76 38 86 32 88C34 96 28 100 20 98z",
    "S": "M22 54C32 58 40 80 40 108L28 100L20 108z",
}


def _jack(suit: str) -> str:
    return (
        path(both(_BOBS[suit]), HAIR[suit]) + cloth(suit) + face("J", suit) + use("collar") + _CAPS[suit]()
    )  # fmt: skip


def _feather(d: str, rib: str, colour: str) -> str:
    return path(d, colour) + line(rib, PAPER, 1.4)


def _jack_hearts() -> str:
    plume = _feather("M-26 46C-46 40-62 26-58 20C-40 18-26 28-18 44z", "M-22 44Q-36 36-54 23", GOLD)
    cap = path("M-33 60C-38 38-12 24 8 28C30 31 42 42 33 60C14 52-14 52-33 60z", OWN)
    rim = path("M-31 62Q0 48 31 62L30 69Q0 56-30 69z", GOLD)
    return plume + cap + shade("M-33 60C-38 38-12 24 8 28C-8 32-16 42-15 55z", 0.2) + rim


def _jack_diamonds() -> str:
    folds = path("M-30 64C-38 44-20 26 0 26C20 26 38 44 30 64Q0 50-30 64z", OWN)
    wraps = line("M-30 58Q-6 50 14 28M-24 42Q-2 40 6 27M30 58Q16 46 4 46M33 48Q22 40 12 40", PAPER, 2)
    stone = use("sD", 0, 46, 0.4, fill=GOLD, stroke_width=3)
    return folds + wraps + stone + _feather("M0 34C-8 26-6 18 4 16C10 22 8 30 0 34z", "M1 32L4 20", GOLD)


def _jack_clubs() -> str:
    cap = path("M-29 64C-30 44-10 40 10 30C22 24 34 22 46 26C38 32 34 46 30 64Q0 50-30 64z", OWN)
    rim = path("M-32 60Q0 46 32 60L30 70Q0 57-30 70z", GOLD)
    return (
        cap
        + light("M10 30C22 24 34 22 46 26C38 32 34 46 32 52Q26 38 10 30z", 0.3)
        + rim
        + path(leaf(24, -30)(-20, 46) + leaf(20, 10)(-8, 44), GOLD)
    )


def _jack_spades() -> str:
    helm = path(whole("M0 24C20 26 30 42 31 66Q16 60 0 60"), SILVER) + shade(
        "M0 24C-20 26-30 42-31 66Q-16 60 0 60z", 0.22
    )
    rim = path(whole("M0 58Q18 58 38 68L36 74Q16 65 0 65"), OWN)
    crest = path("M-4 27C-7 18 4 16 18 19C34 23 44 36 42 52C34 38 20 32 4 31z", RED)
    return crest + helm + rim + use("sS", 0, 44, 0.4, fill=OWN, stroke="none")


_CAPS: Final = {"H": _jack_hearts, "D": _jack_diamonds, "C": _jack_clubs, "S": _jack_spades}
