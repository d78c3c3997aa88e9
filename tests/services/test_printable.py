"""What of a foreign text stands on a terminal."""

import pytest

from services.printable import LONGEST, LONGEST_LINE, file_name, printable, printable_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Åsa 花子 🂡", "Åsa 花子 🂡"),
        ("\x1b[2J\x1b]0;x\x07", "?[2J?]0;x?"),
        ("a\r\nb\tc\x0b\x0c\x85\u2028\u2029d", "a??b?c?????d"),
        ("a\u202eb\u2066\ufeff\xad", "a?b???"),
        ("\x9b31m\x7f", "?31m?"),
        ("\udcff\U000e0001\ue000", "???"),
        ("a\xa0b\u3000c", "a b c"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\U0001f4bb"),
        ("", ""),
    ],
)
def test_what_steers_a_terminal_is_replaced(text: str, shown: str) -> None:
    """Control and format characters, line breaks, stray bytes; letters of all scripts stay."""
    assert shown.replace("?", "\ufffd") == printable(text) == printable_line(text)


def test_a_name_has_its_length() -> None:
    """The longest that the house itself takes stands whole; of a longer one the end is cut, and that is seen."""
    assert "x" * LONGEST == printable("x" * LONGEST)
    assert "x" * (LONGEST - 1) + "…" == printable("x" * 100_000)
    assert LONGEST_LINE == len(printable_line("\x1b" * 100_000))


def test_a_file_with_an_odd_name() -> None:
    """It begins no line of its own."""
    assert "/a/b\ufffd\ufffd[1m\ufffd" == file_name("/a/b\n\x1b[1m\udcff")
