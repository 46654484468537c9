"""Every regular expression in src takes linear time for any text, as most of them meet text of somebody else.

A probe repeats what a repetition accepts, after what leads to it, and before something that does not fit.
"""

import ast
import importlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from re import _constants as codes  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

import pytest

SRC = Path(__file__).parents[1] / "src"
LENGTHS = (24, 250, 8_000)
"""An exponential pattern is found with the first, one of the third power with the second."""
MAX_SECONDS = 0.02
"""For one probe. A linear pattern takes less than a millisecond for the longest; a quadratic one 30 or more."""
_LARGE = 64
_ALPHABET = (*"aA0 \t\n_-.,:;/\\\"'`<>()[]{}=+*#&%$@!?|~^", "é", "\u200b", "\x00")
_SUFFIXES = ("", "\x00", "a")


# ---- where patterns are ----------------------------------------------------------------------------------------


def modules() -> Iterator[str]:
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        if parts[-1] != "__main__" and not {"template", "templates", "migrations"} & set(parts[1:-1]):
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def patterns_in(value: Any, depth: int = 4) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in [*value.keys(), *value.values()]:
            yield from patterns_in(item, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from patterns_in(item, depth - 1)
    elif depth and getattr(type(value), "__module__", "").partition(".")[0] in ROOTS:
        yield from patterns_in(getattr(value, "__dict__", {}), depth - 1)


def strongest(used: set[str]) -> str:
    """The method that can take longest. To search is to begin anywhere."""
    return "search" if used - ANCHORED else "fullmatch" if "fullmatch" in used else "match"


METHODS = {"match", "fullmatch", "search", "findall", "finditer", "sub", "subn", "split"}
ANCHORED = {"match", "fullmatch"}
ROOTS = {path.name for path in SRC.iterdir()}


def collected() -> dict[str, tuple[re.Pattern[Any], str]]:
    """Each pattern, by its place, and the method that is used."""
    found: dict[str, tuple[re.Pattern[Any], str]] = {}
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ImportError:  # an extra that is not installed
            continue
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for key, value in vars(module).items():
            owner = getattr(value, "__module__", name)
            if isinstance(value, type) and owner != name:
                continue
            inside = dict(vars(value)) if isinstance(value, type) else value
            for number, pattern in enumerate(patterns_in(inside)):
                found.setdefault(f"{name}.{key}[{number}]", (pattern, strongest(methods(key, source))))
        for line, pattern, method in literals(source):
            found[f"{name}:{line}"] = (pattern, strongest({method}))
    return found


def methods(name: str, source: str) -> set[str]:
    """How the patterns of a name are used in their module: by that name, or by one that a loop gives them."""
    if name[0] != "_":
        return METHODS
    used = METHODS & set(re.findall(rf"\b{re.escape(name)}(?:\[[^]]*\])?\.([a-z]+)\(", source))
    if not used and f"in {name}.items() if pattern.fullmatch(" in source:
        return {"fullmatch"}
    return used or set(re.findall(rf"(?<!\bre)\.({'|'.join(METHODS - {'split'})})\(", source))  # texts have split too


def literals(source: str) -> Iterator[tuple[int, re.Pattern[Any], str]]:
    """Calls such as re.sub("...", ...) in functions."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(ast.Name("re"), method), args=[ast.Constant(value), *_]):
                if method in METHODS:
                    yield node.lineno, re.compile(value, flags_of(node)), method


def flags_of(call: ast.Call) -> int:
    names = [node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute) and node.attr.isupper()]
    return sum(int(getattr(re, name, 0)) for name in names)


# ---- probes ----------------------------------------------------------------------------------------------------


def sample(item: Any, flags: int) -> str:
    """A short text that a part of a pattern accepts."""
    return "".join(_sample(one, flags) for one in item)


def _sample(one: tuple[Any, Any], flags: int) -> str:
    code, given = one
    if code is codes.LITERAL:
        return chr(given)
    if code in (codes.NOT_LITERAL, codes.IN, codes.ANY):
        return next(iter(accepted([one], flags)), "")
    if code is codes.BRANCH:
        return sample(given[1][0], flags)
    if code is codes.SUBPATTERN:
        return sample(given[3], flags)
    if code is codes.ATOMIC_GROUP:
        return sample(given, flags)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return sample(given[2], flags) * given[0]
    return ""


def accepted(item: Any, flags: int) -> list[str]:
    """Characters that a part of one character accepts."""
    tree = parser.SubPattern(parser.State(), list(item))
    tree.state.flags = flags
    compiled = re.compile("(?s:.)") if item[0][0] is codes.ANY else _compiled(tree)
    return [one for one in _ALPHABET + tuple(map(chr, range(33, 127))) if compiled.fullmatch(one)]


def _compiled(tree: Any) -> re.Pattern[str]:
    from re import _compiler  # pyright: ignore[reportAttributeAccessIssue] # noqa: PLC0415

    return _compiler.compile(tree, tree.state.flags)


def pumps(body: Any, flags: int) -> list[str]:
    """Texts that the body of a repetition accepts."""
    if len(body) == 1 and body[0][0] in (codes.IN, codes.NOT_LITERAL, codes.ANY):
        found = accepted(body, flags)
        return list(dict.fromkeys([*found[:3], *(one for one in found if one in ' \n"<[(')]))[:6]
    if len(body) == 1 and body[0][0] is codes.BRANCH:
        return [text for branch in body[0][1][1] for text in pumps(branch, flags)][:10]
    if len(body) == 1 and body[0][0] is codes.SUBPATTERN:
        return pumps(body[0][1][3], flags)
    whole = sample(body, flags)
    return [text for text in (whole, whole + whole) if text][:1]


def repetitions(tree: Any, flags: int, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repetition without a small bound: what leads to it, and what it repeats."""
    for one in tree:
        code, given = one
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = given
            if most > _LARGE:
                yield from ((before, pump) for pump in pumps(body, flags))
            yield from repetitions(body, flags, before)
        elif code is codes.SUBPATTERN:
            yield from repetitions(given[3], flags, before)
        elif code is codes.ATOMIC_GROUP:
            yield from repetitions(given, flags, before)
        elif code is codes.BRANCH:
            for branch in given[1]:
                yield from repetitions(branch, flags, before)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from repetitions(given[1], flags, before)
        before += _sample(one, flags)


def probes(pattern: re.Pattern[Any], found: Iterable[tuple[str, str]], length: int) -> Iterator[Any]:
    made: dict[str, None] = {}
    for before, pump in found:
        for unit in (pump, before + pump):
            run = unit * (length // len(unit) + 1)
            for suffix in _SUFFIXES[:2] if unit != pump else _SUFFIXES:
                made[before + run + suffix] = None
        made[pump * (length // len(pump)) + "\x00"] = None
        if before:
            made[before * (length // len(before))] = None
    for probe in made:
        yield probe if isinstance(pattern.pattern, str) else probe.encode("latin-1", "replace")


# ---- the test --------------------------------------------------------------------------------------------------


def slow_probe(compiled: re.Pattern[Any], method: str) -> str | None:
    """A description of the first probe that takes more than linear time."""
    text = compiled.pattern if isinstance(compiled.pattern, str) else compiled.pattern.decode("latin-1")
    found = dict.fromkeys(repetitions(parser.parse(text, compiled.flags & ~re.UNICODE), compiled.flags))
    for length in LENGTHS:
        for probe in probes(compiled, found, length):
            seconds = time_of(compiled, probe, method)
            if seconds > MAX_SECONDS:  # not if the machine was busy
                seconds = min(seconds, time_of(compiled, probe, method))
            if seconds > MAX_SECONDS:
                return f"{seconds:.2f} s for {len(probe)} characters: {probe[:30]!r}...{probe[-8:]!r}"
    return None


def time_of(pattern: re.Pattern[Any], probe: Any, method: str) -> float:
    began = time.process_time()
    if method == "search":
        for _ in pattern.finditer(probe):
            pass
    else:
        getattr(pattern, method)(probe)
    return time.process_time() - began


def problems(found: Mapping[str, tuple[re.Pattern[Any], str]]) -> Iterator[str]:
    known: set[tuple[Any, int, str]] = set()
    for place, (pattern, method) in found.items():
        key = (pattern.pattern, pattern.flags, method)
        if key in known:
            continue
        known.add(key)
        slow = slow_probe(pattern, method)
        if slow:
            yield f"{place}: {pattern.pattern!r}: {slow}"


def test_every_pattern_takes_linear_time():
    found = collected()
    assert len(found) > 300
    assert not (slow := list(problems(found))), "\n".join(slow)


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"\s*=\s*\(", r'x\s+("[^"]*"|\s)*,'])
def test_a_pattern_that_takes_longer_is_found(pattern: str):
    assert list(problems({"here": (re.compile(pattern), "search")}))
