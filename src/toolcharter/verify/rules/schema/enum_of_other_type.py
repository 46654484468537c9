from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool, types_of
from toolcharter.verify.values import is_of, list_at, shown


def check(tool: Tool, _: Server) -> Iterable[Found]:
    for node in tool.all_nodes:
        options = [node.schema["const"]] if "const" in node.schema else list_at(node.schema, "enum")
        if not options or "type" not in node.schema:
            continue
        types = types_of(node.schema)
        wrong = [option for option in options if not any(is_of(option, kind) for kind in types)]
        if wrong:
            word = "const" if "const" in node.schema else "enum"
            yield Found(f"{shown(wrong[0])} is not of type {' or '.join(types)}", f"{node.path}.{word}")


RULE = Rule(
    id="SCH013",
    name="enum-of-other-type",
    family="schema",
    severity="warning",
    what="An allowed value that is not of the type beside it.",
    why="The value can be chosen and is then refused: both the type and the enum have to fit.",
    fix="Write the values in the type, or give the type of the values.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "string", "enum": [1, 2]}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "enum": [1, 2]}}}}],
    check=check,
)
