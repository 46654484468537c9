import pytest

from mcp_core.schema.references import resolve_pointer

ROOT = {"$defs": {"Note": {"type": "string"}, "a/b": True, "c~d": {}}, "anyOf": [{"type": "null"}], "title": "Notes"}


@pytest.mark.parametrize(
    ("ref", "target"),
    [
        ("#", ROOT),
        ("#/$defs/Note", {"type": "string"}),
        ("#/%24defs/Note", {"type": "string"}),
        ("#/$defs/a~1b", True),
        ("#/$defs/c~0d", {}),
        ("#/anyOf/0", {"type": "null"}),
        ("#/anyOf/1", None),
        ("#/anyOf/x", None),
        ("#/$defs/Folder", None),
        ("#/title", None),
        ("#/title/0", None),
        ("#anchor", None),
        ("https://example.com/schema", None),
        ("", None),
    ],
)
def test_a_local_reference_is_followed_to_its_schema(ref, target):
    assert resolve_pointer(ROOT, ref) == target
