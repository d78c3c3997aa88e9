"""Keys that an object has twice."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.json_keys import find_twice


@pytest.mark.parametrize(
    ("text", "key", "again"),
    [
        ('{"a":1,"a":2}', "a", '"a":2'),
        ('{"a":{"a":1},"b":[{"c":1,"b":2,"c":3}]}', "c", '"c":3'),
        ('{"a":1,"\\u0061":2}', "a", '"\\u0061"'),
        ('{"a":":,{[\\"}","b":1, "b" :2}', "b", '"b" :2'),
        ('{"":1,"":2}', "", '"":2'),
        ('[{"a":1},{"a":1}, {"é":1,\n"é":2}]', "é", '"é":2'),
    ],
)
def test_a_key_that_stands_there_twice_is_found(text: str, key: str, again: str) -> None:
    """However it is written and however deep; not where other objects have it, nor in texts."""
    assert (key, text.encode().index(again.encode())) == find_twice(text.encode())


JSON = st.recursive(
    st.none() | st.integers() | st.text('a":{}[],\\', max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('ab":{}\\', max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON)
def test_what_has_each_key_once_is_let_be(value: object) -> None:
    """Any value that was written from one."""
    assert find_twice(json.dumps(value).encode()) is None
    assert find_twice(json.dumps({"k": value, "l": value})[:-1].encode() + b', "k": 0}') is not None
