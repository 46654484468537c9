import pytest

from mcp_core.files.toml_lines import key_text, line_of

TEXT = """\
name = "x"  # line 1

[roles.reader]
allow = ["a"]
[roles."a b"] # a comment
allow = [
  "x",
]

[[members]]
role = "reader"
[[members]]
role = "editor"
claims = { team = "x" }
[members.more]
deep.key = 1
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 1),
        (("roles", "reader"), 3),
        (("roles", "reader", "allow"), 4),
        (("roles", "reader", "allow", 0), 4),
        (("roles", "reader", "deny"), 3),
        (("roles", "a b", "allow", 0), 6),
        (("members", 0, "role"), 11),
        (("members", 1), 12),
        (("members", 1, "role"), 13),
        (("members", 1, "claims", "team"), 14),
        (("members", 2, "role"), 1),
        (("nothing",), 1),
    ],
)
def test_a_key_is_found_or_else_the_table_around_it(path: tuple[str | int, ...], line: int):
    assert line_of(TEXT, path) == line


def test_a_broken_header_or_key_is_not_a_place():
    assert line_of('[a b]\n"x = 1\nkey = 1\n', ("key",)) == 3


def test_a_path_is_written_as_toml_writes_keys():
    assert key_text(("members", 0, "role")) == "members[0].role"
    assert key_text(("tools", "github:delete_*", "tags", 0)) == 'tools."github:delete_*".tags[0]'


def test_what_stands_in_a_text_of_several_lines_is_not_a_place():
    text = 'a = """\n[b]\nc = 1\n"""\n[b]\nc = 2\n'
    assert line_of(text, ("b", "c")) == 6
