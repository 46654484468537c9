import pytest

from mcp_core.errors import DeclarationError
from toolcharter.declarations import Skill


@pytest.mark.parametrize("name", ["", "Weather", "a--b", "-a", "a b", "../a", "a" * 65, "é"])
def test_a_name_that_agents_do_not_load_is_refused(name: str):
    with pytest.raises(DeclarationError) as error:
        Skill(name, "What it is about.", "Text")
    assert str(error.value).startswith(f"skill {name!r}: name: is not valid; use small letters and digits")


@pytest.mark.parametrize("length", [0, 1025])
def test_a_description_is_neither_missing_nor_too_long(length: int):
    with pytest.raises(DeclarationError, match=f"skill 'a': description: has {length} characters; use 1 to 1024"):
        Skill("a", "x" * length, "Text")
