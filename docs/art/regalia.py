"""Crowns, caps and what the court carries: one attribute for each figure."""

from __future__ import annotations

from typing import Final

from figure import RED, SILVER
from motifs import leaf, lozenge, shade, star
from pen import GOLD, INK, OWN, PAPER, SUITS, disc, dots, line, mirrored, path, tag, use, whole

X: Final = 65
"""Where what is carried stands, beside the axis."""

_CROWNS: Final = {
    "H": "M0 24L10 42Q17 44 21 35L35 27L30 58Q15 53 0 53",
    "D": "M0 18L11 38L18 28L24 42L34 30L30 58Q15 53 0 53",
    "C": "M0 30Q8 32 10 43Q18 46 21 38Q24 31 34 32L30 58Q15 53 0 53",
    "S": "M0 17L6 43L15 24L19 44L32 22L30 58Q15 53 0 53",
}


def crown(suit: str) -> str:
    """A king's crown: its points tell the suit."""
    rim = path(whole("M0 53Q15 53 30 58L29 67Q15 62 0 62"), OWN)
    gems = dots([(-13, 58.4), (0, 57.5), (13, 58.4)], 4.8, GOLD)
    tips = "".join(
        use(f"s{suit}", x, y, size, fill=OWN, stroke="none")
        for x, y, size in {
            "H": ((0, 40, 0.28), (34, 27, 0.2), (-34, 27, 0.2)),
            "D": ((0, 42, 0.26), (25, 50, 0.16), (-25, 50, 0.16)),
            "C": ((0, 28, 0.4), (33, 31, 0.3), (-33, 31, 0.3)),
            "S": ((0, 45, 0.26),),
        }[suit]
    )
    balls = {"H": disc(0, 22, 4), "D": disc(0, 18, 3) + disc(34, 29, 3) + disc(-34, 29, 3), "C": "", "S": ""}[
        suit
    ]
    body = path(whole(_CROWNS[suit]), GOLD) + shade(mirrored_half(suit), 0.12)
    return body + (path(balls, GOLD) if balls else "") + tips + rim + gems


def mirrored_half(suit: str) -> str:
    """The left half of a crown, for its shadow."""
    return mirrored(_CROWNS[suit]) + "z"


def staff(top: float, colour: str, width: float = 5) -> str:
    """A rod from ``top`` down to the sash, with the paper's edge on both sides."""
    d = f"M{X} {top}V203"
    return line(d, PAPER, width + 3) + line(d, colour, width)


def sceptre() -> str:
    """The king of hearts: a burning heart."""
    flame = path(f"M{X} 18C{X + 10} 30 {X + 15} 34 {X + 9} 46H{X - 9}C{X - 15} 36 {X - 5} 32 {X} 18z", GOLD)
    return (
        staff(60, GOLD) + flame + use("sH", X, 55, 0.78, fill=OWN, stroke_width=2)
        + path(f"M{X - 9} 80H{X + 9}L{X + 5} 88H{X - 5}z", GOLD)
    )  # fmt: skip


def rose() -> str:
    """The queen of hearts: a rose."""
    leaves = path(leaf(26, 55)(X + 12, 104) + leaf(26, -55)(X - 12, 116), SUITS["C"])
    bloom = path(
        f"M{X - 18} 56C{X - 22} 42 {X - 12} 34 {X - 8} 36C{X - 6} 28 {X + 6} 28 {X + 8} 36C{X + 14} 33 {X + 22} 44 {X + 18} 56"
        f"C{X + 16} 70 {X + 8} 76 {X} 76C{X - 8} 76 {X - 16} 70 {X - 18} 56z",
        OWN,
    )
    petals = line(
        f"M{X - 16} 50Q{X - 4} 54 {X} 76M{X + 16} 50Q{X + 4} 54 {X} 76M{X - 8} 38Q{X} 62 {X + 8} 38M{X - 4} 42Q{X} 36 {X + 4} 42",
        PAPER, 2, stroke_linecap="round",
    )  # fmt: skip
    return staff(70, SUITS["C"], 3.5) + leaves + bloom + petals


def letter() -> str:
    """The jack of hearts: a sealed letter."""
    sheet = path(f"M{X - 29} 117H{X + 18}V152H{X - 29}z", PAPER, stroke=INK, stroke_width=1.8)
    folds = line(
        f"M{X - 29} 117L{X - 5.5} 137L{X + 18} 117M{X - 29} 152L{X - 12} 132M{X + 18} 152L{X + 1} 132",
        INK,
        1.6,
    )
    return sheet + folds + use("sH", X - 5.5, 136, 0.36, fill=OWN, stroke_width=3)


def gem() -> str:
    """The king of diamonds: a cut stone."""
    stone = f"M{X - 12} 28H{X + 12}L{X + 20} 42L{X} 72L{X - 20} 42z"
    cuts = f"M{X - 20} 42H{X + 20}M{X - 12} 28L{X - 7} 42L{X} 72L{X + 7} 42L{X + 12} 28M{X - 7} 42L{X} 28L{X + 7} 42"
    claw = path(f"M{X - 14} 62L{X} 82L{X + 14} 62L{X + 6} 92H{X - 6}z", GOLD)
    return staff(86, GOLD) + claw + path(stone, OWN) + line(cuts, PAPER, 1.3)


def mirror() -> str:
    """The queen of diamonds: a looking-glass."""
    glass = path(disc(X, 58, 21), GOLD) + path(disc(X, 58, 15.5), OWN, stroke="none")
    gleam = line(f"M{X - 8} 60L{X + 4} 48M{X - 3} 67L{X + 9} 55", PAPER, 2.6, stroke_linecap="round")
    return staff(82, GOLD, 6) + path(lozenge(5, 7)(X, 34) + lozenge(6, 8)(X, 84), GOLD) + glass + gleam


def key() -> str:
    """The jack of diamonds: the key of the treasury."""
    bow = line(f"M{X} 30L{X + 15} 48L{X} 66L{X - 15} 48z", PAPER, 10, stroke_linejoin="round") + line(
        f"M{X} 30L{X + 15} 48L{X} 66L{X - 15} 48z", GOLD, 6, stroke_linejoin="round"
    )
    bits = path(f"M{X + 2} 116H{X + 18}V122H{X + 12}V128H{X + 18}V140H{X + 2}z", GOLD)
    collar = path(f"M{X - 7} 68H{X + 7}V74H{X - 7}z", GOLD)
    return staff(66, GOLD, 6) + bits + bow + collar


def branch() -> str:
    """The king of clubs: an oak staff in leaf, with an acorn."""
    leaves = path(
        leaf(30, 50)(X + 11, 58) + leaf(30, -50)(X - 11, 72) + leaf(30, 0)(X, 34) + leaf(24, 55)(X + 11, 92),
        OWN,
    )
    veins = line(
        f"M{X} 46V24M{X + 2} 66L{X + 18} 52M{X - 2} 80L{X - 18} 66M{X + 3} 98L{X + 18} 87", PAPER, 1.3
    )
    acorn = path(
        f"M{X - 20} 100H{X - 6}C{X - 6} 112 {X - 12} 116 {X - 13} 118C{X - 14} 116 {X - 20} 112 {X - 20} 100z",
        GOLD,
    )
    cup = path(f"M{X - 22} 101C{X - 22} 90 {X - 4} 90 {X - 4} 101z", "#6b4426")
    return staff(44, "#6b4426", 5) + leaves + veins + acorn + cup


def wheat() -> str:
    """The queen of clubs: ears of wheat."""
    grains = "".join(
        leaf(17, 28)(X + 8, y) + leaf(17, -28)(X - 8, y) for y in (42, 56, 70, 84)
    ) + leaf(18, 0)(X, 28)  # fmt: skip
    blades = path(leaf(40, 22)(X + 10, 118) + leaf(40, -22)(X - 10, 122), OWN)
    return staff(40, GOLD, 3) + blades + path(grains, GOLD)


def crook() -> str:
    """The jack of clubs: a shepherd's crook."""
    d = f"M{X + 3} 203V62C{X + 3} 30 {X - 30} 32 {X - 26} 54C{X - 22} 70 {X - 4} 62 {X - 10} 52"
    ribbon = path(leaf(22, 60)(X + 13, 92) + leaf(22, 120)(X + 13, 102), OWN)
    return (
        line(d, PAPER, 9, stroke_linecap="round") + line(d, "#7a4d2a", 6, stroke_linecap="round") + ribbon
        + path(f"M{X - 4} 90H{X + 10}V104H{X - 4}z", GOLD)
    )  # fmt: skip


def sword() -> str:
    """The king of spades: a drawn sword."""
    blade = path(f"M{X - 7} 138V38L{X} 20L{X + 7} 38V138z", SILVER) + shade(
        f"M{X} 20L{X - 7} 38V138H{X}z", 0.3
    )
    guard = path(f"M{X - 21} 132Q{X} 142 {X + 21} 132V141Q{X} 150 {X - 21} 141z", GOLD)
    return blade + guard + staff(146, GOLD, 6)


def moon() -> str:
    """The queen of spades: the moon that players shoot."""
    crescent = f"M{X + 4} 24A22 22 0 1 0 {X + 21} 58A18 18 0 0 1 {X + 4} 24z"
    return staff(66, SILVER, 3.5) + _raw(crescent, GOLD) + path(star(6)(X + 12, 40), PAPER, stroke="none")


def lantern() -> str:
    """The jack of spades: the watchman's lantern."""
    beams = "".join(
        f"M{X + a} {b}L{X + c} {d}"
        for a, b, c, d in ((-19, 54, -25, 52), (-19, 66, -25, 67), (19, 54, 23, 52), (19, 66, 23, 67))
    )
    roof = path(f"M{X} 22L{X + 17} 42H{X - 17}z", OWN)
    glow = path(f"M{X - 14} 42H{X + 14}L{X + 11} 80H{X - 11}z", GOLD)
    flame = path(f"M{X} 50C{X + 8} 60 {X + 6} 74 {X} 74C{X - 6} 74 {X - 8} 60 {X} 50z", RED)
    foot = path(f"M{X - 15} 78H{X + 15}V86H{X - 15}z", OWN)
    return (
        staff(84, "#6b4426", 5) + line(beams, GOLD, 2.4, stroke_linecap="round") + roof + glow + flame + foot
    )


def _raw(d: str, fill: str) -> str:
    return tag("path", fill=fill, d=d)


ATTRIBUTES: Final = {
    "KH": sceptre, "QH": rose, "JH": letter,
    "KD": gem, "QD": mirror, "JD": key,
    "KC": branch, "QC": wheat, "JC": crook,
    "KS": sword, "QS": moon, "JS": lantern,
}  # fmt: skip
