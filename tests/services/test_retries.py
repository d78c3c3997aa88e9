"""When something is tried again: later each time, not all at once, and within a bound."""

from services.retries import BOUND, SAFE, pauses, spread
from services.supervise import Backoff


def test_pauses_grow_within_a_bound() -> None:
    """A fifth of the time that an answer may take, whatever chance says."""
    for chance in (0.0, 0.5, 0.999):
        found = list(pauses(5.0, lambda chance=chance: chance))
        assert 5.0 * BOUND == sum(found)
        assert found[:-1] == sorted(found[:-1])
        assert len(found) < 12
    assert 0.1 == sum(pauses(0.5, lambda: 0.0))


def test_who_waits_for_the_same_comes_back_apart() -> None:
    """A pause is shorter by chance, at most by half."""
    assert (2.0, 1.5, 1.0) == (spread(2.0, lambda: 0.0), spread(2.0, lambda: 0.5), spread(2.0, lambda: 1.0))
    waits = {Backoff(1.0, 4.0, apart=True).fail() for _ in range(50)}
    assert len(waits) > 1
    assert all(0.5 <= wait <= 1.0 for wait in waits)


def test_nothing_that_writes_is_safe() -> None:
    """By its name, every command that is asked for again only reads."""
    assert not {"SET", "DEL", "EVAL", "EVALSHA", "XADD", "XACK", "XREADGROUP", "XAUTOCLAIM", "PING"} & SAFE
