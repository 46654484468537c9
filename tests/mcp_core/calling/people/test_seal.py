import base64
import hmac
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.calling.people import seal

KEY = b"k" * 32
BINDING = seal.bind("user:ann", "delete_note", "1.0.0", '{"note_id":"note_1"}')
NOW = 1_000.0


@pytest.mark.requirement("CON-3")
def test_a_genuine_seal_opens_until_it_expires():
    text = seal.make(KEY, BINDING, NOW + 600)
    opened = seal.open_seal(KEY, BINDING, text, NOW)
    assert isinstance(opened, seal.Seal)
    assert opened.expires == NOW + 600
    assert seal.open_seal(KEY, BINDING, text, NOW + 599.9) == opened
    assert seal.open_seal(KEY, BINDING, text, NOW + 600) == "expired"


@pytest.mark.requirement("CON-3")
def test_every_seal_has_a_nonce_of_its_own():
    texts = [seal.make(KEY, BINDING, NOW + 600) for _ in range(100)]
    opened = [seal.open_seal(KEY, BINDING, text, NOW) for text in texts]
    assert len({one.nonce for one in opened if isinstance(one, seal.Seal)}) == 100


@pytest.mark.requirement("CON-3")
def test_a_seal_made_with_another_key_is_refused():
    text = seal.make(b"x" * 32, BINDING, NOW + 600)
    assert seal.open_seal(KEY, BINDING, text, NOW) == "not made by this server"


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize(
    "other",
    [
        ("user:ben", "delete_note", "1.0.0", '{"note_id":"note_1"}'),
        ("user:ann", "delete_all", "1.0.0", '{"note_id":"note_1"}'),
        ("user:ann", "delete_note", "2.0.0", '{"note_id":"note_1"}'),
        ("user:ann", "delete_note", "1.0.0", '{"note_id":"note_2"}'),
    ],
    ids=["caller", "tool", "version", "arguments"],
)
def test_a_seal_for_another_call_is_refused(other: tuple[str, ...]):
    text = seal.make(KEY, BINDING, NOW + 600)
    assert seal.open_seal(KEY, seal.bind(*other), text, NOW) == "made for another caller, tool or arguments"


@pytest.mark.requirement("CON-3")
def test_a_seal_whose_end_was_moved_is_refused():
    text = seal.make(KEY, BINDING, NOW)
    payload, _, signature = text.partition(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    forged = base64.urlsafe_b64encode(json.dumps(claims | {"e": NOW + 600}).encode()).decode()
    assert seal.open_seal(KEY, BINDING, f"{forged}.{signature}", NOW) == "not made by this server"


@pytest.mark.requirement("CON-3")
def test_a_seal_with_any_one_character_changed_is_refused():
    text = seal.make(KEY, BINDING, NOW + 600)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= ü"
    for place, letter in itertools.product(range(len(text)), letters):
        changed = text[:place] + letter + text[place + 1 :]
        opened = seal.open_seal(KEY, BINDING, changed, NOW)
        assert isinstance(opened, seal.Seal) == (changed == text), changed


@given(st.text())
def test_other_requests_are_refused(text: str):
    assert isinstance(seal.open_seal(KEY, BINDING, text, NOW), str)


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_two_lists_of_parts_have_one_binding_only_when_they_are_equal(one: list[str], two: list[str]):
    assert (seal.bind(*one) == seal.bind(*two)) == (one == two)


@pytest.mark.requirement("CON-3")
def test_a_signature_of_the_same_key_for_something_else_is_not_a_seal():
    session = b"session\0user:ann\0payload"
    signature = hmac.digest(KEY, session, "sha256").hex()
    assert not seal.is_genuine(KEY, f"{session.decode()}.{signature}")
