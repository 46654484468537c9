"""Rules and servers for tests of what is around the rules: they stay the same when rules are added."""

from toolcharter.verify.engine import example_server
from toolcharter.verify.outcome import examine
from toolcharter.verify.rule import Found, Rule


def rule(id, name, family, severity, check=None, **more):
    texts = {"what": f"What {id} finds.", "why": f"Why {id} matters.", "fix": f"How to mend {id}."}
    return Rule(id=id, name=name, family=family, severity=severity, **texts, bad=[{}], good=[{}], check=check, **more)


def says(message, path=""):
    """A check that has something to say about each tool whose description mentions the message."""

    def check(tool, _):
        return [Found(message, path)] * tool.description.count(message)

    return check


BROKEN = rule("SCH901", "broken-thing", "schema", "error", says("broken", "inputSchema"))
VAGUE = rule("DSC901", "vague-words", "description", "warning", says("vague", "description"))
PLAIN = rule("DSC902", "plain-words", "description", "note", says("plain"))
SECRET = rule("SEC901", "secret-thing", "security", "error", says("secret"))
TASTE = rule("NAM901", "matter-of-taste", "naming", "note", says("taste"), optional=True)
CROWD = rule(
    *("CST901", "crowded-server", "cost", "warning"),
    check_server=lambda server: [Found(f"{len(server.tools)} tools")] if len(server.tools) > 3 else [],
)
RULES = (CROWD, VAGUE, PLAIN, TASTE, BROKEN, SECRET)


def server(**descriptions):
    """A server with a tool for each argument: its name and its description."""
    return example_server([{"name": name, "description": text} for name, text in descriptions.items()])


def outcome(selection=None, **descriptions):
    return examine(server(**descriptions), RULES, selection)
