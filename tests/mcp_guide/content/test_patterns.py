import re
import time
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments
from mcp_guide.content.patterns import FolderScope, compile_patterns, stem
from tests.thorough import examples

PATHS = [
    "python.md",
    "python.txt",
    "python",
    "Python.md",
    "python.test.md",
    "api/v1/a.md",
    "api/b.md",
    "v1.2.md",
    "c++.md",
]


def matched(*patterns):
    matches = compile_patterns(patterns).matches
    return [path for path in PATHS if matches(path)]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("python", ["python.md", "python.txt", "python"]),
        ("python.md", ["python.md"]),
        ("python.test", ["python.test.md"]),
        ("python.test.md", ["python.test.md"]),
        ("v1.2", ["v1.2.md"]),
        ("*.md", ["python.md", "Python.md", "python.test.md", "v1.2.md", "c++.md"]),
        ("*", ["python.md", "python.txt", "python", "Python.md", "python.test.md", "v1.2.md", "c++.md"]),
        ("**", PATHS),
        ("**/*", PATHS),
        ("**/b", ["api/b.md"]),
        ("**/python.md", ["python.md"]),
        ("**/api/*.md", ["api/b.md"]),
        ("api/", ["api/v1/a.md", "api/b.md"]),
        ("api/**", ["api/v1/a.md", "api/b.md"]),
        ("api/**/a", ["api/v1/a.md"]),
        ("api/**/b", ["api/b.md"]),
        ("api", []),
        ("?ython.md", ["python.md", "Python.md"]),
        ("[pq]ython.md", ["python.md"]),
        ("[!p]ython.md", ["Python.md"]),
        ("{python,v1.2}.md", ["python.md", "v1.2.md"]),
        ("{python.{txt,md},api/{v1/a,b}}", ["python.md", "python.txt", "api/v1/a.md", "api/b.md"]),
        ("c[+][+]", ["c++.md"]),
        ("p*t*.md", ["python.md", "python.test.md"]),
    ],
)
def test_a_pattern_matches_these_paths(pattern, paths):
    assert matched(pattern) == paths


def test_several_patterns_match_what_any_of_them_matches():
    assert matched("v1.2", "**/b") == ["api/b.md", "v1.2.md"]
    assert matched() == []


def test_a_class_never_matches_a_slash():
    assert not compile_patterns(("api[!x]b.md",)).matches("api/b.md")
    assert not compile_patterns(("api[+-9]b.md",)).matches("api/b.md")


def test_the_folders_that_can_match_are_known_before_walking():
    def scopes(*patterns):
        compiled = compile_patterns(patterns)
        return compiled.scopes, compiled.names

    assert scopes("python") == ((FolderScope("", 0),), frozenset({"python"}))
    assert scopes("api/v1/{a,b}.md") == ((FolderScope("api/v1", 0),), frozenset({"a.md", "b.md"}))
    assert scopes("api/*/a", "x/y") == ((FolderScope("api", 1), FolderScope("x", 0)), frozenset({"a", "y"}))
    assert scopes("**/name") == ((FolderScope("", None),), frozenset({"name"}))
    assert scopes("api/") == ((FolderScope("api", None),), None)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "./a",
        "{a,..}/b",
        "a\\b",
        "a\x00",
        "[a",
        "{a",
        "a}",
        "{a,}",
        "[z-a]",
        "a" * 1001,
        "{a,b}" * 9,
        "{" + ",".join("x" * 90 for _ in range(10)) + "}{" + ",".join("abcdefghijklmnopq") + "}",
    ],
)
def test_an_invalid_pattern_is_refused(pattern):
    with pytest.raises(InvalidArguments):
        compile_patterns((pattern,))


def test_the_error_quotes_the_pattern_and_says_what_to_do():
    with pytest.raises(InvalidArguments) as refused:
        compile_patterns(("a/../b",))
    assert str(refused.value) == (
        "The pattern 'a/../b' contains an empty folder name, '.' or '..'. "
        "Use folders and documents below the category, as in 'api/*.md'."
    )


# --- compared with a simple implementation that tries everything -------------------------------------------


def oracle(pattern: str, path: str) -> bool:
    return any(_folders(text.split("/"), path.split("/")) for text in _expand(pattern))


def _expand(pattern: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)  # the innermost first, unlike what is tested
    if not found:
        return [pattern]
    return [
        text
        for part in found[1].split(",")
        for text in _expand(pattern[: found.start()] + part + pattern[found.end() :])
    ]


def _folders(pattern: list[str], path: list[str]) -> bool:
    if pattern == ["**"]:
        return bool(path)
    if pattern[0] == "**":
        return _folders(pattern[1:], path) or (len(path) > 1 and _folders(pattern, path[1:]))
    if len(pattern) == 1 or len(path) == 1:
        return len(pattern) == len(path) == 1 and _document(pattern[0], path[0])
    return _name(pattern[0], path[0]) and _folders(pattern[1:], path[1:])


def _document(pattern: str, name: str) -> bool:
    extension = pattern.rpartition(".")[2] if "." in pattern else ""
    is_literal = not any(special in pattern for special in "*?[")
    has_extension = (extension[:1].isalpha() and not is_literal) or "*" in extension or "?" in extension
    return _name(pattern, name) or (not has_extension and _name(pattern, stem(name)))


@cache
def _name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return _name(pattern[1:], name) or (name != "" and _name(pattern, name[1:]))
    if not name:
        return False
    if pattern.startswith("[!a]"):
        return name[0] != "a" and _name(pattern[4:], name[1:])
    if pattern.startswith("[ab]"):
        return name[0] in "ab" and _name(pattern[4:], name[1:])
    return pattern[0] in ("?", name[0]) and _name(pattern[1:], name[1:])


_PIECES = st.sampled_from(["a", "b", ".", ".a", "*", "?", "[!a]", "[ab]", "**", "{a,b}", "{a,*b/a}", "{a,{b,.a}}"])
_SEGMENTS = st.one_of(st.just("**"), st.lists(_PIECES, min_size=1, max_size=4).map("".join))
_PATTERNS = st.lists(_SEGMENTS, min_size=1, max_size=5).map("/".join).filter(lambda text: text.count("{") < 5)
_NAMES = st.text("ab.", min_size=1, max_size=5).filter(lambda name: not name.startswith("."))
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)


@settings(max_examples=examples(600))
@given(_PATTERNS, _PATHS)
def test_a_pattern_agrees_with_trying_everything(pattern, path):
    try:
        found = compile_patterns((pattern,))
    except InvalidArguments:
        assert any(segment in (".", "..") for text in _expand(pattern) for segment in text.split("/"))
        return
    assert bool(found.matches(path)) == oracle(pattern, path)


@settings(max_examples=examples(300))
@given(_PATTERNS, st.lists(_PATHS, max_size=20))
def test_the_folders_to_walk_include_every_match(pattern, paths):
    try:
        found = compile_patterns((pattern,))
    except InvalidArguments:
        return
    for path in filter(found.matches, paths):
        folder, _, name = path.rpartition("/")
        assert found.names is None or name in found.names or stem(name) in found.names
        assert any(_is_in_scope(folder, scope) for scope in found.scopes)


def _is_in_scope(folder: str, scope: FolderScope) -> bool:
    if scope.folder and f"{folder}/".startswith(f"{scope.folder}/") is False:
        return False
    deeper = folder[len(scope.folder) :].strip("/")
    return scope.depth is None or (len(deeper.split("/")) if deeper else 0) <= scope.depth


@settings(max_examples=examples(200))
@given(st.text(max_size=60))
def test_any_text_is_a_pattern_or_refused(text):
    with suppress(InvalidArguments):
        compile_patterns((text,)).matches("a/b.md")


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 100 + "b",
        "**/" * 100 + "b",
        "**/a/" * 60 + "b",
        "*?" * 200 + "b",
        "{*a*a*a,**/a*a/*}/" * 3 + "b",
        "**/*a*a*a*/" * 40 + "b",
    ],
)
def test_no_pattern_is_slow(pattern):
    found = compile_patterns((pattern,))
    paths = ["a" * 255, "/".join(["a" * 40] * 25), "/".join("a" * 400)]
    before = time.process_time()
    assert not any(found.matches(path) for path in paths)
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize("negation", "!^")
def test_a_class_is_negated_as_in_a_shell(negation):
    patterns = compile_patterns((f"[{negation}a]*.md",))
    assert [bool(patterns.matches(path)) for path in ("a.md", "b.md", "^.md", "!.md")] == [False, True, True, True]
    assert compile_patterns((f"x[{negation}]]",)).matches("xa")
    assert not compile_patterns((f"x[{negation}]]",)).matches("x]")


def test_a_name_with_an_extension_can_be_a_stem():
    patterns = compile_patterns(("node.js",))
    assert [bool(patterns.matches(path)) for path in ("node.js", "node.js.md", "node.js.a.b")] == [True, True, False]
    assert not compile_patterns(("*.js",)).matches("node.js.md")


def test_all_patterns_together_have_one_limit():
    braces = "{a,b}" * 6 + "*[a-z]*?"
    compile_patterns((f"x{braces}",))
    before = time.process_time()
    with pytest.raises(InvalidArguments, match="with the patterns before it, expand to too many patterns"):
        compile_patterns(tuple(f"{number}{braces}" for number in range(40)))
    assert time.process_time() - before < 1
