"""Public bytes as they lie in a stream come back to the byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.codec import CODEC
from services.short import lengthened, shortened


@pytest.mark.parametrize("name", CODEC.names)
def test_an_event_of_each_kind_is_shorter(name: str) -> None:
    """Given any event of the house, then its number and name are one byte, and come back."""
    public = b'{"n":1000,"t":"%b","at":1800000000000,"seat":0}' % name.encode()
    stored = shortened(1000, public)
    assert len(stored) == len(b'1800000000000,"seat":0}') + 1
    assert public == lengthened(1000, stored)


@given(
    st.integers(1, 10**6),
    st.one_of(
        st.binary(max_size=40),
        st.builds(
            lambda seq, name, rest: b'{"n":%d,"t":"%b' % (seq, name) + rest,
            st.integers(1, 3),
            st.sampled_from([b"card_played", b"card_burnt", b""]),
            st.one_of(st.just(b'","at":1}'), st.just(b'","at":'), st.just(b'"}'), st.binary(max_size=5)),
        ),
    ),
)
def test_whatever_is_stored_comes_back(seq: int, public: bytes) -> None:
    """Given bytes that are no event, of another number, or with a beginning as short ones have, then they are the same."""
    assert public == lengthened(seq, shortened(seq, public))


def test_an_event_of_another_number_keeps_it() -> None:
    """So that who checks the numbers sees it."""
    public = b'{"n":3,"t":"card_played","at":1}'
    assert public == shortened(2, public)
