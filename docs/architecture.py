"""Draw docs/architecture.svg: the rooms below src/ in their order, and the way of a call.

The picture is made of what the sources say. Rooms and their order come from the import contracts in pyproject.toml,
arrows from the import graph, words about rooms from their docstrings, and the steps of a call from the pipeline.
"""

import ast
import inspect
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import grimp

from mcp_core.calling import pipeline, recording
from mcp_core.errors import ElicitationUnsupported, ForgedReply, UnknownTool

ROOT = Path(__file__).resolve().parent.parent
SERVERS, STATE = "servers", "mcp_core.state"

STEPS = {
    "receive": "the host makes a Request of what the client sent",
    "observe": "ids, trace and caller; what no log may show",
    "resolve": "the tool of that name, or the nearest names",
    "limit": "how often this caller may call it",
    "authorize": "every permission that the tool declares",
    "parse": "strict validation, into the handler's own copy",
    "consent": "the person said yes, or a Question goes back",
    "lookup": "a cached answer that is fresh goes on to record",
    "invoke": "the handler in its server, within its deadline",
    "check": "the result is what was declared; hints",
    "store": "cache a query; a mutation invalidates",
    "record": "log, metrics, audit: once, also when cancelled",
    "render": "the wire format that the server chose",
}
"""What a reader should know of each step."""
GATES = ("limit", "authorize", "parse", "consent")
RECORDS = {"receive": "Request", "observe": "Call", "consent": "Permit", "check": "Body", "render": "Answer"}
"""What a call has become after a step. Each record has more in it than the one before."""
RAISED = (UnknownTool, ForgedReply, ElicitationUnsupported)
EXITS = {
    "A Question for the person": "goes back at consent; the client calls again with the reply.",
    ", ".join(error.__name__ for error in RAISED): "are raised to the host: it answers with a protocol error.",
    "Whatever else is raised": "becomes an Answer that is an error, and is recorded.",
}
"""How a call can end otherwise, and what happens then."""
HANDLER = "invoke"
"""The step that runs a function of a server."""
ABOUT = {
    SERVERS: "One package each. They never import each other.",
    "toolcharter": "What people run and import.",
    "mcp_core": "The framework. It knows no server and no command.",
}


# --- what the sources say ----------------------------------------------------------------------------------


class Layers(NamedTuple):
    """A package, and its rooms in rows from top to bottom. Modules that share a row are on a shelf."""

    package: str
    rows: list[list[str]]


@cache
def _import_linter() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*_import_linter()["root_packages"], cache_dir=None)


def packages() -> list[Layers]:
    """The packages from top to bottom, as the import contracts have them."""
    contracts = {contract["id"]: contract for contract in _import_linter()["contracts"]}
    inside = {c["containers"][0]: c["layers"] for c in contracts.values() if "containers" in c}
    # Packages that share a row are the servers. The rooms of one, where it has a contract, are not in the picture.
    return [
        Layers(SERVERS, [row])
        if len(row) > 1
        else Layers(row[0], [[f"{row[0]}.{name}" for name in _names(layer)] for layer in inside[row[0]]])
        for row in map(_names, contracts["packages"]["layers"])
    ]


def _names(layer: str) -> list[str]:
    return [name.strip(" ()") for name in re.split(r"[|:]", layer)]


def is_room(name: str) -> bool:
    """Whether a module is a folder."""
    return (ROOT / "src" / name.replace(".", "/")).is_dir()


def edges(places: Mapping[str, str]) -> set[tuple[str, str]]:
    """Which box imports which. `places` has the box of each room and module."""

    def box(module: str) -> str | None:
        while module not in places and "." in module:
            module = module.rpartition(".")[0]
        return places.get(module)

    found: dict[str, set[str]] = {name: set() for name in places.values()}
    for module in _graph().modules:
        for imported in _graph().find_modules_directly_imported_by(module):
            source, target = box(module), box(imported)
            if source and target and source != target:
                found[source].add(target)
    return direct(found)


def direct(imports: Mapping[str, Set[str]]) -> set[tuple[str, str]]:
    """The imports that do not follow from others."""

    @cache
    def reach(name: str) -> frozenset[str]:
        return frozenset().union(*(reach(target) | {target} for target in imports[name]))

    return {
        (name, target)
        for name, targets in imports.items()
        for target in targets
        if not any(target in reach(other) for other in targets)
    }


def about(name: str) -> str:
    """What a room or module is: the first sentence of its docstring."""
    path = ROOT / "src" / name.replace(".", "/")
    file = path / "__init__.py" if is_room(name) else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    sentence = re.split(r"(?<=\.)\s", " ".join(docstring.split()))[0]
    sentence = re.sub(r"^`\w+`: ", "", sentence).replace("`", "")
    return sentence[:1].upper() + sentence[1:]


def modules_of_steps() -> dict[str, str]:
    """Where each step is written: in the module that the pipeline, or the recording around it, imports it from."""
    names = re.findall(r"\b\d+ ([a-z]+)", inspect.getdoc(pipeline) or "")
    if names != list(STEPS):
        raise ValueError(f"The pipeline lists the steps {names}; STEPS in docs/architecture.py has {list(STEPS)}.")
    if missing := [name for name in RECORDS.values() if not hasattr(pipeline, name)]:
        raise ValueError(f"RECORDS in docs/architecture.py names {missing}, which the pipeline does not import.")
    imported = {
        alias.name: node.module
        for source in (pipeline, recording)
        for node in ast.walk(ast.parse(inspect.getsource(source)))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return {step: imported[step] for step in names if step in imported} | {
        "receive": "mcp_core.hosts",
        "resolve": "mcp_core.registry",
    }


def steps_in(name: str) -> list[int]:
    """The numbers of the steps that are written in a room or module, or that use it: shared state, and handlers."""
    modules = modules_of_steps()

    def happens_here(step: str) -> bool:
        if name == SERVERS:
            return step == HANDLER
        if name == STATE and modules[step] in _graph().modules:
            return any(module.startswith(STATE) for module in _graph().find_modules_directly_imported_by(modules[step]))
        return f"{modules[step]}.".startswith(f"{name}.")

    return [number for number, step in enumerate(STEPS, start=1) if happens_here(step)]


# --- where it stands ---------------------------------------------------------------------------------------

WIDTH, PAD, COLUMN = 1140, 28, 640
HEAD, GAP = 46, 24
SLIM, PILL, LINE, MARGIN = 34.0, 27, 16, 40.0
LETTER, MONO = 6.65, 8.3
"""The usual width of a letter: a browser's own fonts are not known here."""


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height


class Plan(NamedTuple):
    """Where everything stands."""

    cards: dict[str, Box]
    rooms: dict[str, Box]
    """Rooms and modules that have a box of their own."""
    shelves: dict[str, list[str]]
    """Modules that share a box, by the name of the first."""
    height: float


def plan() -> Plan:
    cards: dict[str, Box] = {}
    rooms: dict[str, Box] = {}
    shelves: dict[str, list[str]] = {}
    y = float(PAD)
    for package, rows in packages():
        top, y = y, y + HEAD
        for row in _merged(rows):
            inner = COLUMN - 32
            if any(map(is_room, row)):
                widths = _widths(row, inner - 12 * (len(row) - 1))
                height = 33.0 + LINE * max(len(_wrapped(about(n), w - 24)) for n, w in zip(row, widths, strict=True))
                x = PAD + 16.0
                for name, width in zip(row, widths, strict=True):
                    rooms[name] = Box(x, y, width, height)
                    x += width + 12
            elif len(row) == 1:
                height = SLIM
                rooms[row[0]] = Box(PAD + 16, y, inner, height)
            else:
                shelves[row[0]] = row
                pills = _pills(row, Box(PAD + 16, y, inner, 0))
                height = max(pill.bottom for pill in pills.values()) - y + 10
                rooms[row[0]] = Box(PAD + 16, y, inner, height)
            y += height + GAP
        y += 16 - GAP
        cards[package] = Box(PAD, top, COLUMN, y - top)
        y += 30
    return Plan(cards, rooms, shelves, y - 30 + PAD)


def _widths(row: Sequence[str], whole: float) -> list[float]:
    """A room beside modules gets more than they do, so that the steps of a call have their place in it."""
    mixed = len(row) < 3  # noqa: PLR2004 - three share a row evenly
    weights = [1.6 if mixed and is_room(name) else 1.0 for name in row]
    return [whole * weight / sum(weights) for weight in weights]


def _merged(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows of several modules that follow each other share a shelf."""
    merged: list[list[str]] = []
    for row in rows:
        if merged and all(len(r) > 1 and not any(map(is_room, r)) for r in (row, merged[-1])):
            merged[-1] = [*merged[-1], *row]
        else:
            merged.append(list(row))
    return merged


def _pills(row: Sequence[str], shelf: Box) -> dict[str, Box]:
    x, y = shelf.x + 10, shelf.y + 10
    pills: dict[str, Box] = {}
    for name in row:
        width = MONO * len(name.rpartition(".")[2]) + 22 + 22 * len(steps_in(name))
        if x + width > shelf.x + shelf.width - 10:
            x, y = shelf.x + 10, y + PILL + 8
        pills[name] = Box(x, y, width, PILL)
        x += width + 8
    return pills


# --- the drawing -------------------------------------------------------------------------------------------

LIGHT = """--page: #ffffff; --ink: #1f2328; --soft: #59636e; --edge: #d1d9e0; --card: #f6f8fa; --box: #ffffff;
    --arrow: #818b98; --host: #0969da; --call: #8250df; --gate: #bc4c00; --serve: #1a7f37; --state: #0a7d8c;
    --host-fill: #ddf4ff; --call-fill: #f6efff; --gate-fill: #fff1e5; --serve-fill: #dafbe1; --state-fill: #d9f4f6;"""
DARK = """--page: #0d1117; --ink: #f0f6fc; --soft: #9aa4af; --edge: #3d444d; --card: #151b23; --box: #0d1117;
    --arrow: #7d8590; --host: #58a6ff; --call: #b392f0; --gate: #f0883e; --serve: #3fb950; --state: #39c5cf;
    --host-fill: #11233b; --call-fill: #221a35; --gate-fill: #2e1f13; --serve-fill: #122619; --state-fill: #0f2a2e;"""
STYLE = f"""
  svg {{ {LIGHT} }}
  @media (prefers-color-scheme: dark) {{ svg {{ {DARK} }} }}
  text {{ fill: var(--ink);
    font: 13px system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }}
  .mono {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
  .title {{ font-size: 17px; font-weight: 600; }}
  .name {{ font-size: 14px; font-weight: 600; }}
  .soft {{ fill: var(--soft); }}
  .file {{ font-size: 11px; text-anchor: end; }}
  .middle {{ text-anchor: middle; }}
  .page {{ fill: var(--page); }}
  .card {{ fill: var(--card); stroke: var(--edge); }}
  .box {{ fill: var(--box); stroke: var(--edge); }}
  .line {{ fill: none; stroke: var(--arrow); stroke-width: 1.5; }}
  .tip {{ fill: var(--arrow); }}
  .rail {{ stroke: var(--edge); stroke-width: 2; }}
  .number {{ fill: var(--page); font-size: 10.5px; font-weight: 700; text-anchor: middle; }}
""" + "\n".join(
    f"  .{kind} > .box {{ fill: var(--{kind}-fill); stroke: var(--{kind}); }}"
    f" .{kind} > circle, .{kind} > .name {{ fill: var(--{kind}); }}"
    for kind in ("host", "call", "gate", "serve", "state")
)
KINDS = {"mcp_core.hosts": "host", "mcp_core.calling": "call", STATE: "state"}


def draw() -> str:
    """The picture as SVG."""
    made = plan()
    label = "The rooms of toolcharter from top to bottom, as they import each other, and the thirteen steps of a call."
    parts = [*_cards(made), *_room_arrows(made), *_rooms(made), *_shelves(made), *_way(made)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {made.height:g}" role="img">',
            f"<title>{label}</title>",
            f"<style>{STYLE}\n</style>",
            f'<rect class="page" width="{WIDTH}" height="{made.height:g}" rx="12"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>'


def _rect(box: Box, kind: str, corner: int = 6) -> str:
    x, y, width, height = (f"{value:g}" for value in (box.x, box.y, box.width, box.height))
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{corner}"/>'


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    tip = y2 - 7
    curve = f"V{tip:g}" if x1 == x2 else f"C{x1:g} {tip:g} {x2:g} {y1:g} {x2:g} {tip:g}"
    return f'<path class="line" d="M{x1:g} {y1:g}{curve}"/><path class="tip" d="M{x2 - 4:g} {tip:g}h8l-4 6z"/>'


def _cards(made: Plan) -> Iterator[str]:
    for name, box in made.cards.items():
        yield _rect(box, "card", 10)
        title, kind = ("Servers", "title") if name == SERVERS else (name, "title mono")
        yield _text(box.x + 16, box.y + 29, title, kind)
        yield _text(box.x + 32 + 10.4 * len(title), box.y + 29, ABOUT[name], "soft")
    owner = {name: card for card, rows in packages() for row in rows for name in row}
    owner |= {card: card for card in made.cards}
    found = edges(owner)
    names = list(made.cards)
    for source, target in sorted(found):
        start, end = made.cards[source], made.cards[target]
        if names.index(target) == names.index(source) + 1:
            x = start.x + start.width / 2
            yield _arrow(x, start.bottom + 1, x, end.y - 1)
        else:  # past the packages between them
            x, y1, y2 = start.x - 12, start.y + start.height / 2, end.y + HEAD / 2
            yield f'<path class="line" d="M{start.x:g} {y1:g}H{x:g}V{y2:g}H{end.x - 7:g}"/>'
            yield f'<path class="tip" d="M{end.x - 7:g} {y2 - 4:g}v8l6 -4z"/>'


def _room_arrows(made: Plan) -> Iterator[str]:
    """Inside a package: straight down where both stand above each other."""
    for package, rows in packages():
        if package == SERVERS:
            continue
        places = {name: name for row in rows for name in row}
        places |= {name: shelf for shelf, row in made.shelves.items() for name in row if name in places}
        taken: list[tuple[float, float]] = []
        for source, target in sorted(edges(places), key=lambda edge: (made.rooms[edge[1]].width, edge)):
            start, end = made.rooms[source], made.rooms[target]
            left, right = max(start.x, end.x), min(start.x + start.width, end.x + end.width)
            if right - left < MARGIN:  # side by side: from the nearer end of one to the nearer end of the other
                x1, x2 = (start.x + start.width - 18, end.x + 18) if start.x < end.x else (start.x + 18, right - 18)
            else:
                x1 = x2 = _free(left + 18, right - 18, [x for y, x in taken if y == start.bottom])
            taken += [(start.bottom, x1), (start.bottom, x2)]
            yield _arrow(x1, start.bottom, x2, end.y)


def _free(left: float, right: float, taken: Sequence[float]) -> float:
    """The place nearest to the middle that is not close to one that is taken."""
    spots = [left + (right - left) * part / 16 for part in range(17)]
    middle = (left + right) / 2
    return max(spots, key=lambda spot: (min([abs(spot - x) for x in taken] + [MARGIN]), -abs(spot - middle)))


def _rooms(made: Plan) -> Iterator[str]:
    for name, box in made.rooms.items():
        if name in made.shelves:
            continue
        server, short = "." not in name, name.rpartition(".")[2]
        yield f'<g class="{"serve" if server else KINDS.get(name, "")}">'
        yield _rect(box, "box")
        yield _text(box.x + 12, box.y + 22, short + ("/" if is_room(name) else ""), "name mono")
        yield "</g>"
        if box.height == SLIM:
            start = 12 + 8.9 * len(short) + 14
            yield _text(box.x + start, box.y + 22, _wrapped(about(name), box.width - start - 12, 1)[0], "soft")
        else:
            for number, line in enumerate(_wrapped(about(name), box.width - 24)):
                yield _text(box.x + 12, box.y + 40 + LINE * number, line, "soft")
        yield from _badges(box, steps_in(SERVERS if server else name))


def _wrapped(words: str, width: float, most: int = 3) -> list[str]:
    """As much of a sentence as there is room for, cut where a part of it ends."""
    letters = int(width / LETTER)
    for mark in (r"[:;] |\.$", r", "):
        for end in reversed([match.start() for match in re.finditer(mark, words)]):
            lines = textwrap.wrap(words[:end] + ".", letters)
            if len(lines) <= most:
                return lines
    return textwrap.wrap(words, letters, max_lines=most, placeholder=" ...")


def _badges(box: Box, numbers: Sequence[int]) -> Iterator[str]:
    for place, number in enumerate(reversed(numbers)):
        x, y = box.x + box.width - 16 - 21 * place, box.y + min(16.0, box.height / 2)
        yield _dot(x, y, number, 8.5)


def _dot(x: float, y: float, number: int, radius: float) -> str:
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'
    return f'<g class="{_kind(number)}">{circle}{_text(x, y + 3.8, str(number), "number")}</g>'


def _kind(number: int) -> str:
    step = list(STEPS)[number - 1]
    return "gate" if step in GATES else {"receive": "host", HANDLER: "serve"}.get(step, "call")


def _shelves(made: Plan) -> Iterator[str]:
    for shelf, row in made.shelves.items():
        box = made.rooms[shelf]
        yield _rect(box, "card")
        for name, pill in _pills(row, box).items():
            yield _rect(pill, "box", 13)
            yield _text(pill.x + 11, pill.y + 18, name.rpartition(".")[2], "mono")
            yield from _badges(pill, steps_in(name))


def _way(made: Plan) -> Iterator[str]:
    card = Box(PAD * 2 + COLUMN, PAD, WIDTH - 3 * PAD - COLUMN, made.height - 2 * PAD)
    modules = modules_of_steps()
    yield _rect(card, "card", 10)
    yield _text(card.x + 20, card.y + 29, "Where a call goes", "title")
    yield _text(card.x + 20, card.y + 48, "One function runs every call, in this order, on every host.", "soft")
    top, rail = card.y + 66, card.x + 40
    exits_top = card.bottom - 24 - 40 * len(EXITS)
    step = (exits_top - top - 144) / (len(STEPS) - 0.5)
    first, last = top + 60, top + 60 + step * (len(STEPS) - 1)
    gates = [first + step * list(STEPS).index(name) for name in GATES]
    yield '<g class="gate">'
    yield _rect(Box(card.x + 12, gates[0] - step / 2, card.width - 24, gates[-1] - gates[0] + step), "box", 8)
    yield "</g>"
    yield f'<path class="rail" d="M{rail:g} {top + 20:g}V{last + 60:g}"/>'
    yield from _client(card, top, "An MCP client calls a tool")
    for number, name in enumerate(STEPS, start=1):
        y = first + step * (number - 1)
        yield _dot(rail, y, number, 11)
        yield f'<g class="{_kind(number)}">{_text(rail + 24, y - 3, name, "name")}</g>'
        yield _text(rail + 24, y + 14, STEPS[name])
        file = modules[name].removeprefix("mcp_core.").replace(".", "/")
        yield _text(card.x + card.width - 22, y - 3, file, "mono soft file")
        if name in RECORDS:
            yield from _record(rail, y + step / 2, RECORDS[name])
    yield from _client(card, last + step / 2 + 18, "The client gets an answer")
    yield _text(card.x + 20, exits_top, "Other ways out", "name")
    for number, (what, where) in enumerate(EXITS.items()):
        y = exits_top + 24 + 40 * number
        yield _text(card.x + 20, y, what)
        yield _text(card.x + 20, y + 16, where, "soft")


def _record(rail: float, y: float, name: str) -> Iterator[str]:
    width = MONO * len(name) + 18
    yield _rect(Box(rail - 14, y - 9, width, 20), "box", 10)
    yield _text(rail - 14 + width / 2, y + 5, name, "mono middle")


def _client(card: Box, y: float, words: str) -> Iterator[str]:
    yield '<g class="host">'
    yield _rect(Box(card.x + 20, y, card.width - 40, 28), "box", 14)
    yield "</g>"
    yield _text(card.x + card.width / 2, y + 18, words, "middle")


if __name__ == "__main__":
    (ROOT / "docs/architecture.svg").write_text(draw(), encoding="utf-8")
