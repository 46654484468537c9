import json
from enum import StrEnum
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from mcp_core.text import json_text

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


class Colour(StrEnum):
    RED = "red"


class Aliased(BaseModel):
    from_: str = Field(alias="from")


class Endless:
    def to_dict(self):
        return Endless()


class Broken:
    def to_json(self):
        return "{not json"


@given(JSON)
def test_what_is_written_reads_back_the_same(value: object):
    text = json_text.to_text(value)
    assert json.loads(text) == value
    assert json_text.to_plain(value) == value


@given(JSON)
def test_the_text_is_compact_and_one_line_and_utf_8(value: object):
    text = json_text.to_text(value)
    assert "\n" not in text
    assert text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert text.encode()


@given(st.text(st.characters()))
@example("a\ud800b")
def test_any_text_goes_out_even_with_half_a_character_in_it(value: str):
    text = json_text.to_text({"t": value})
    assert json.loads(text.encode().decode()) == {"t": value.encode("utf-8", "replace").decode()}


def test_half_a_character_is_replaced_inside_a_model_too():
    assert json_text.to_text([Aliased.model_validate({"from": "a\ud800b"})]) == '[{"from":"a?b"}]'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (7, "7"),
        ((1, 2), "[1,2]"),
        (Colour.RED, '"red"'),
        ({1: "a", None: "b", False: "c"}, '{"1":"a","null":"b","false":"c"}'),
        (Aliased.model_validate({"from": "x"}), '{"from":"x"}'),
    ],
)
def test_values_take_their_json_form(value: object, text: str):
    assert json_text.to_text(value) == text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [{"b": {1}}]}, r"^value\['a'\]\[0\]\['b'\]: set is not JSON; use str, int, float, bool, None, list"),
        ({"a": {b"k": 1}}, r"^value\['a'\] has a key of type bytes; JSON keys are strings$"),
        ({"a": (1, float("-inf"))}, r"^value\['a'\]\[1\] is -inf, which JSON cannot hold$"),
        pytest.param(10**5000, "^value: Exceeds the limit", id="huge"),
        ([10**5000], r"^value\[0\]: Exceeds the limit"),
        (Endless(), "^the value contains itself or is nested too deeply"),
        (Broken(), "^value: "),
        (MappingProxyType({"a": 1}), "^the value cannot be written as JSON: mappingproxy is not JSON"),
        ({float("nan"): 1}, "^the value cannot be written as JSON"),
    ],
)
def test_what_has_no_json_form_is_refused_with_its_place(value: object, message: str):
    with pytest.raises(TypeError, match=message):
        json_text.to_text(value)
    with pytest.raises(TypeError, match=message):
        json_text.to_plain(value)


def test_nesting_without_end_is_refused():
    value: object = 0
    for _ in range(100_000):
        value = [value]
    with pytest.raises(TypeError, match="nested too deeply"):
        json_text.to_text(value)


@given(st.text(max_size=40), st.text(max_size=3))
@example('\x00\x1f\x7f"\\/\b\f\n\r\t', "")
@example("\u2028", "é")
def test_a_long_text_is_written_as_a_short_one(part: str, end: str):
    long = part * 50 + end
    assert json_text.quoted(long)[1:-1] == "".join(json_text.quoted(char)[1:-1] for char in long)


@given(JSON)
def test_bytes_read_back_as_the_text_does(value: object):
    assert json.loads(json_text.to_bytes(value)) == json.loads(json_text.to_text(value))


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "half \ud800", "\u00e9\x00"])
def test_odd_texts_are_the_same_as_bytes(text: str):
    assert json_text.to_bytes({"text": text}) == json_text.to_text({"text": text}).encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_have_are_refused_as_bytes(number: float):
    with pytest.raises(TypeError):
        json_text.to_bytes({"number": number})
