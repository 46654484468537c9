"""Rules and servers for tests of the code around the rules. They stay the same when real rules are added."""

from toolcharter.verify.engine import example_server
from toolcharter.verify.result import verify_server
from toolcharter.verify.rule import Problem, Rule


def rule(id, name, family, severity, check=None, **more):
    texts = {"what": f"What {id} finds.", "why": f"Why {id} matters.", "fix": f"How to fix {id}."}
    return Rule(id=id, name=name, family=family, severity=severity, **texts, bad=[{}], good=[{}], check=check, **more)


def mentions(message, path=""):
    """A check that finds a problem each time the description of a tool contains the message."""

    def check(tool, _):
        return [Problem(message, path)] * tool.description.count(message)

    return check


BROKEN = rule("SCH901", "broken-thing", "schema", "error", mentions("broken", "inputSchema"))
VAGUE = rule("DSC901", "vague-words", "description", "warning", mentions("vague", "description"))
PLAIN = rule("DSC902", "plain-words", "description", "note", mentions("plain"))
SECRET = rule("SEC901", "secret-thing", "security", "error", mentions("secret"))
TASTE = rule("NAM901", "matter-of-taste", "naming", "note", mentions("taste"), optional=True)
CROWD = rule(
    *("CST901", "crowded-server", "cost", "warning"),
    check_server=lambda server: [Problem(f"{len(server.tools)} tools")] if len(server.tools) > 3 else [],
)
RULES = (CROWD, VAGUE, PLAIN, TASTE, BROKEN, SECRET)


def server(**descriptions):
    """A server with a tool for each argument: its name and its description."""
    return example_server([{"name": name, "description": text} for name, text in descriptions.items()])


def verified(selection=None, **descriptions):
    """The result of verifying such a server."""
    return verify_server(server(**descriptions), RULES, selection)
