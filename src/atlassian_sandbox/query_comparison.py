"""How JQL and CQL compare: texts by their words, everything else by its order."""

import re
from typing import Any


def search_words(text: str) -> list[str]:
    """The words of a text search; a quoted phrase is one."""
    phrase = re.fullmatch(r'"(.*)"', text.strip())
    if phrase:
        return ['"' + phrase[1].casefold()]
    return re.findall(r"[\w*?-]+", text.casefold())


def contains_words(text: str, wanted: list[str]) -> bool:
    folded = text.casefold()
    words = set(re.findall(r"\w+", folded))
    return all(_has(word, words, folded) for word in wanted)


def _has(word: str, words: set[str], text: str) -> bool:
    if word.startswith('"'):
        return word[1:] in text
    if "*" in word or "?" in word:
        pattern = re.compile(word.replace("*", r"\w*").replace("?", r"\w"))
        return any(pattern.fullmatch(each) for each in words)
    stem = word.removesuffix("s")
    return word in words or stem in words or stem + "s" in words or (not word.isalnum() and word in text)


def compare(value: Any, operator: str, low: Any, high: Any) -> bool:
    match operator:
        case "=" | "in":
            return low <= value <= high
        case "!=" | "not in":
            return not low <= value <= high
        case "<":
            return value < low
        case "<=":
            return value <= high
        case ">":
            return value > high
        case _:
            return value >= low
