import xml.etree.ElementTree as ET

import pytest

from docs import architecture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def words() -> list[str]:
    picture = ET.fromstring(architecture.draw())
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


def test_the_picture_has_every_room_and_module_of_the_import_contracts(words: list[str]):
    names = {name.rpartition(".")[2] for _, rows in architecture.packages() for row in rows for name in row}
    assert {"mcp_todo", "verify", "hosts", "calling", "registry"} <= names
    assert names - {word.rstrip("/") for word in words} == set()


def test_the_picture_has_the_steps_of_a_call_in_order(words: list[str]):
    numbers = words.index("receive")
    assert [word for word in words[numbers:] if word in architecture.STEPS] == list(architecture.STEPS)


def test_a_step_is_shown_in_the_room_that_it_is_written_in_and_in_those_it_uses():
    numbers = {step: number for number, step in enumerate(architecture.STEPS, start=1)}
    assert architecture.steps_in("mcp_core.hosts") == [numbers["receive"]]
    assert architecture.steps_in("mcp_core.registry") == [numbers["resolve"]]
    assert architecture.steps_in("mcp_core.state") == [numbers[s] for s in ("limit", "consent", "lookup", "store")]
    assert architecture.steps_in("servers") == [numbers["invoke"]]


def test_an_import_that_follows_from_others_is_not_drawn():
    imports = {"top": {"middle", "bottom"}, "middle": {"bottom"}, "bottom": set[str]()}
    assert architecture.direct(imports) == {("top", "middle"), ("middle", "bottom")}


def test_a_step_of_the_pipeline_that_the_picture_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(architecture.STEPS, "consent")
    with pytest.raises(ValueError, match=r"STEPS in docs/architecture\.py"):
        architecture.modules_of_steps()
