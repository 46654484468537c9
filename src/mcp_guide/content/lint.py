"""Find what is wrong with documents: dead links, unknown front matter, rules that repeat or contradict each other."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple
from urllib.parse import unquote

from mcp_guide.content.documents import Document
from mcp_guide.content.finding import find_all_documents, find_documents
from mcp_guide.content.reading import DEFAULT_BUDGET, read_file
from mcp_guide.content.sections import find_sections, lines_of
from mcp_guide.content.tokens import count_tokens
from mcp_guide.guide import GuideResult, ProjectView

MAX_DOCUMENTS = 5_000
MAX_FINDINGS = 200
KNOWN_FIELDS = frozenset(
    {"globs", "alwaysApply", "always", "applyTo", "paths", "synonyms", "aliases", "keywords", "name", "review_by"}
)
"""The fields of front matter that mean something here, beside those of `FrontMatter`."""
_DATES = ("review_by",)
_MIN_RULE_LENGTH = 30
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]{0,300}\]\(<?([^()\s>]{1,500})>?(?:[ \t]\"[^\"\n]{0,300}\")?\)")
_LINE_END, _NOT_LINE_END = re.compile(r"\n"), re.compile(r"[^\r\n]")
_CODE_WORDS = re.compile(r"`[^`\n]*`")
_RULE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}\.)[ \t]+(\S.{0,499})$", re.MULTILINE)
_NEGATIVE = re.compile(r"\b(?:do not|don't|never|avoid|no longer)\b", re.IGNORECASE)
_POLARITY = re.compile(r"\b(?:do not|don't|never|avoid|no longer|always|please|must|should)\b", re.IGNORECASE)
_NOT_WORDS = re.compile(r"\W+")
_TEMPLATE = re.compile(r"\{\{[#/^>&{]?\s*([\w.-]{1,80})[^}\n]{0,80}\}\}")


class DocumentFinding(NamedTuple):
    """Something to correct in a document."""

    path: str
    line: int
    rule: str
    problem: str


def check_documents(view: ProjectView, expression: str | None, today: date) -> GuideResult:
    """The findings in documents; in all of them without an expression."""
    found = find_documents(view, expression) if expression else find_all_documents(view)
    read = [read_file(one) for one in found.entries[:MAX_DOCUMENTS]]
    documents = [one for one in read if isinstance(one, Document)]
    everything = read if expression is None else [read_file(one) for one in find_all_documents(view).entries]
    known = {one.path: one for one in everything if isinstance(one, Document)}
    findings = sorted(_findings(documents, known, today))
    value = {
        "findings": [finding._asdict() for finding in findings[:MAX_FINDINGS]],
        "total": len(findings),
        "documents": len(documents),
    }
    if len(findings) > MAX_FINDINGS:
        message = f"The first {MAX_FINDINGS} of {len(findings):,} findings in {len(documents):,} documents."
    else:
        message = f"{len(findings)} findings in {len(documents):,} documents."
    return GuideResult.ok(value, message)


def _findings(documents: Sequence[Document], known: Mapping[str, Document], today: date) -> Iterator[DocumentFinding]:
    for document in documents:
        text = document.text or ""
        prose, ends = _without_code(text), _line_ends(text)
        first = document.head.count("\n") + 1
        for rule, place, problem in (
            *_links(document, prose, known),
            *_templates(prose),
            *_long_sections(text),
        ):
            yield DocumentFinding(document.path, first + bisect_left(ends, place), rule, problem)
        for rule, problem in (*_front_matter(document, today), *(("front-matter", one) for one in document.warnings)):
            yield DocumentFinding(document.path, 1, rule, problem)
    yield from _repeated_rules(documents)


def _without_code(text: str) -> str:
    """The text with blanks for its code. All else keeps its place."""
    prose = "".join(_NOT_LINE_END.sub(" ", line) if is_code else line for line, is_code in lines_of(text))
    return _CODE_WORDS.sub(lambda code: " " * len(code[0]), prose)


def _line_ends(text: str) -> list[int]:
    return [end.start() for end in _LINE_END.finditer(text)]


_Place = tuple[str, int, str]


def _links(document: Document, prose: str, known: Mapping[str, Document]) -> Iterator[_Place]:
    """Links to documents and headings that do not exist."""
    for link in _LINK.finditer(prose):
        address, _, anchor = unquote(link[1]).partition("#")
        if re.match(r"[a-zA-Z][\w+.-]*:|//|/", address):
            continue
        target = _resolve(document.path, address) if address else document.path
        if target is None or (address and target not in known):
            if address.endswith((".md", ".markdown")):
                yield "dead-link", link.start(), f"{link[1]!r} leads to no document."
            continue
        if anchor and anchor not in {section.id for section in find_sections(known[target].text or "")}:
            yield "dead-anchor", link.start(), f"{link[1]!r}: {target} has no section #{anchor}."


def _resolve(path: str, address: str) -> str | None:
    parts = path.split("/")[:-1]
    for part in address.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _templates(prose: str) -> Iterator[_Place]:
    for variable in _TEMPLATE.finditer(prose):
        yield "template", variable.start(), f"{variable[0]!r} stays as it is: documents are not rendered."


def _long_sections(text: str) -> Iterator[_Place]:
    for section in find_sections(text):
        size = count_tokens(text[section.start : section.own_end])
        if size > DEFAULT_BUDGET:
            name = f"#{section.id}" if section.level else "The text before the first heading"
            yield "long-section", section.start, f"{name} has {size:,} tokens, more than an answer: divide it."


def _front_matter(document: Document, today: date) -> Iterator[tuple[str, str]]:
    extra = document.front.extra
    for name in extra:
        if name not in KNOWN_FIELDS:
            yield "unknown-field", f"{name!r} in the front matter means nothing here."
    for name in _DATES:
        if name in extra:
            try:
                due = date.fromisoformat(str(extra[name]))
            except ValueError:
                yield "stale", f"{name!r} is {extra[name]!r}, which is not a date such as 2027-01-31."
                continue
            if due < today:
                yield "stale", f"It was to be reviewed by {due}."


def _repeated_rules(documents: Sequence[Document]) -> Iterator[DocumentFinding]:
    """List items that say the same as an earlier one, or its opposite."""
    seen: dict[str, tuple[str, bool]] = {}
    for document in documents:
        text = document.text or ""
        first, ends = document.head.count("\n") + 1, _line_ends(text)
        for rule in _RULE.finditer(text):
            words = _NOT_WORDS.sub(" ", _POLARITY.sub("", rule[1])).strip().casefold()
            if len(words) < _MIN_RULE_LENGTH:
                continue
            is_negative = bool(_NEGATIVE.search(rule[1]))
            other, was_negative = seen.setdefault(words, (document.path, is_negative))
            line = first + bisect_left(ends, rule.start(1))
            if was_negative != is_negative:
                yield DocumentFinding(
                    document.path, line, "contradiction", f"{rule[1][:80]!r} is the opposite of {other}."
                )
            elif other != document.path:
                yield DocumentFinding(document.path, line, "duplicate", f"{rule[1][:80]!r} is in {other} too.")
