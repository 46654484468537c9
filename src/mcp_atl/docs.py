"""The parts of the generated docs that belong to this server, besides its tools."""

from mcp_atl.app import COMMANDS
from mcp_atl.command import Command, ListParameters, Parameters, command_of
from mcp_atl.tools.help import describe_parameter


def parameters() -> str:
    """The subject and the parameters of each command, as `help` describes them."""
    return "\n\n".join(_section(command_of(function)) for function in COMMANDS)


def _section(command: Command) -> str:
    lines = [f"## {command.name}", "", command.summary, "", f"Subject: {command.subject.description}"]
    if command.subject.choices:
        lines.append(f"One of {', '.join(f'`{choice}`' for choice in command.subject.choices)}.")
    gives_list = issubclass(command.parameters, ListParameters)
    shared = (ListParameters if gives_list else Parameters).model_fields  # described once, at the top of the page
    own = {name: field for name, field in command.parameters.model_fields.items() if name not in shared}
    if gives_list:
        lines += ["", "It takes `limit`, `cursor` and `format` too."]
    if own:
        rows = [
            f"| `{name}` | {' | '.join(_escaped(describe_parameter(one)).split(': ', 1))} |"
            for name, one in own.items()
        ]
        lines += ["", "| parameter | type | what it is |", "|---|---|---|", *rows]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Text that a page shows as it is: the form of a mention is not a link there."""
    return text.replace("](", "]\\(").replace("|", "\\|")


PARTS = {"atl-parameters": parameters}
