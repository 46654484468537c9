import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_guide.content.front_matter import FrontMatter, SplitText, split_front_matter


def test_the_known_fields_are_taken_and_the_rest_is_kept():
    parts = split_front_matter(
        "---\n"
        "title: Naming & <style>\n"
        "description: How things are named\n"
        "tags: [python, 3.10, yes]\n"
        "type: agent\n"
        "instruction: Follow it.\n"
        "requires: strict, reviews\n"
        "since: 2024-01-31\n"
        "order: 3\n"
        "draft: false\n"
        "links: {home: 'http://x/?a&b', none: ~}\n"
        "---\n"
        "# Names\n"
    )
    assert parts == SplitText(
        FrontMatter(
            title="Naming & <style>",
            description="How things are named",
            tags=("python", "3.10", "true"),
            type="agent",
            instruction="Follow it.",
            requires=("strict", "reviews"),
            extra={"since": "2024-01-31", "order": 3, "draft": False, "links": {"home": "http://x/?a&b", "none": None}},
        ),
        "# Names\n",
    )


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nname: value\n",
        "name: value\n---\nother: value\n",
        "\n---\ntitle: Late\n---\n",
        "---\nA rule, then a sentence.\n\n---\nAnd another.\n",
        "---\n- a\n- list\n---\n",
        "---\ntitle: never closed\n",
        "---\n# A heading\n---\n",
        "---- \ntitle: x\n---\n",
        "--- title: x\n---\n",
        "",
        "---",
    ],
)
def test_a_text_without_front_matter_stays_as_it_is(text):
    assert split_front_matter(text) == SplitText(FrontMatter(), text)


@pytest.mark.parametrize("text", ["---\n---\nbody", "---\r\n\r\n---\r\nbody"])
def test_empty_front_matter_is_not_part_of_the_text(text):
    assert split_front_matter(text) == SplitText(FrontMatter(), "body")


def test_line_ends_of_windows_are_fine():
    assert split_front_matter("---\r\ntitle: T\r\n---\r\nbody\r\n") == SplitText(FrontMatter(title="T"), "body\r\n")


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("title: a: b", "mapping values are not allowed"),
        ("title: [a", "expected ',' or ']'"),
        ("a: &a [x]\nb: *a", "it contains an alias (*name), which is not supported"),
        ("a: " + "[" * 21 + "]" * 21, "it is too large or too deep"),
        ("a: [" + "x," * 1_000 + "]", "it is too large or too deep"),
        ("a: 1\n--- # more\nb: 2", "it contains a second document"),
        (
            "title: Errors\ntags: [x",
            "in the text: line 4: while parsing a flow sequence did not find expected ',' or ']'",
        ),
    ],
)
def test_invalid_front_matter_is_a_warning_and_stays_in_the_text(block, reason):
    text = f"---\n{block}\n---\nbody\n"
    parts = split_front_matter(text)
    assert parts.text == text
    assert parts.front == FrontMatter()
    assert len(parts.warnings) == 1
    assert parts.warnings[0].startswith("The front matter is not valid and was left in the text: ")
    assert reason in parts.warnings[0]


def test_fields_of_the_wrong_type_give_a_warning():
    parts = split_front_matter("---\ntitle: [a]\ntags: {a: b}\ntype: poem\nrequires: flag\n---\nbody")
    assert parts == SplitText(
        FrontMatter(requires=("flag",)),
        "body",
        (
            "'type' in the front matter is 'poem'; it must be user, agent or instruction.",
            "'title' in the front matter must be a string and was ignored.",
            "'tags' in the front matter must be a list and was ignored.",
        ),
    )


def test_the_older_names_of_types_are_accepted():
    assert split_front_matter("---\ntype: agent/instruction\n---\n").front.type == "instruction"


@pytest.mark.parametrize("deep", ["a: " + "[" * 30_000, "- " * 30_000, "? " * 30_000, "{a: " * 15_000])
def test_no_depth_ends_the_process(deep):
    code = (
        "import sys; from mcp_guide.content.front_matter import split_front_matter; "
        "print(len(split_front_matter(sys.stdin.read()).warnings))"
    )
    command, text = [sys.executable, "-c", code], f"---\n{deep}\n---\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "1")


@given(st.text() | st.text("abc:-[]{}&*!|>#'\"\n %@~.0", max_size=80))
def test_any_block_is_parsed_or_left_whole(block):
    text = f"---\n{block}\n---\nbody"
    parts = split_front_matter(text)
    assert parts.text == text or text.endswith(parts.text)
