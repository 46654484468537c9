from collections.abc import Iterable

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import CHARACTERS_PER_TOKEN, Server
from toolcharter.verify.rule import Problem, Rule

MAX_TOKENS = 25_000


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for tool, exchanges in observations.by_tool():
        sizes = [len(exchange.answer.text) for exchange in exchanges if exchange.answer is not None]
        tokens = max(sizes, default=0) // CHARACTERS_PER_TOKEN
        if tokens > MAX_TOKENS:
            yield Problem(f"a result has about {tokens:,} tokens, more than {MAX_TOKENS:,}", tool=tool)


RULE = Rule(
    id="LIV011",
    name="oversized-result",
    family="live",
    severity="warning",
    what="A result has more than about 25,000 tokens.",
    why="Clients truncate or reject it. Otherwise it fills the context of the model and costs tokens in every turn.",
    fix="Return pages with a small default size, and let the caller choose the fields.",
    check_live=check,
)
