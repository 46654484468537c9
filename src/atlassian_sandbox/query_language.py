"""The grammar that JQL and CQL share: clauses joined by AND, OR and NOT, and an order.

project = OPS AND (status in ("To Do", Blocked) OR due < startOfDay(-1w)) ORDER BY created DESC
"""

import re
from dataclasses import dataclass, field


class QueryError(Exception):
    """A query that cannot be read. The message says where."""


@dataclass(frozen=True)
class Function:
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Value:
    text: str
    quoted: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.quoted and self.text.upper() in ("EMPTY", "NULL")


Operand = Value | Function


@dataclass(frozen=True)
class Predicate:
    """A condition on a change: BY mia, AFTER -1w, FROM "To Do"."""

    name: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Clause:
    field: str
    operator: str  # lower case: "=", "not in", "is", "was", "changed"
    operands: tuple[Operand, ...]
    predicates: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class NotClause:
    part: "Node"


@dataclass(frozen=True)
class Both:
    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Either:
    parts: tuple["Node", ...]


Node = Clause | NotClause | Both | Either


@dataclass(frozen=True)
class Order:
    field: str
    descending: bool


@dataclass(frozen=True)
class Query:
    where: Node | None
    order: tuple[Order, ...] = field(default=())


@dataclass(frozen=True)
class Token:
    text: str
    kind: str  # "word", "string", "operator", "punctuation", "end"
    position: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words


_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<operator>!=|!~|<=|>=|=|~|<|>|!|&&|\|\||&|\|)
      | (?P<punctuation>[(),])
      | (?P<word>cf\[\d+\]|[^\s"'=!~<>(),&|]+)
    )""",
    re.VERBOSE,
)
_PREDICATES = ("after", "before", "on", "during", "by", "from", "to")
_RESERVED = ("and", "or", "not", "in", "is", "was", "changed", "order", "by")


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            reason = "The quoted string has not been completed." if text[at] in "\"'" else "The character is not valid."
            raise QueryError(f"{reason} (line 1, character {at + 1})")
        kind = match.lastgroup or "word"
        raw = match.group(kind)
        value = re.sub(r"\\(.)", r"\1", raw[1:-1]) if kind == "string" else raw
        tokens.append(Token(value, kind, match.start(kind) + 1))
        position = match.end()
    tokens.append(Token("", "end", len(text) + 1))
    return tokens


def parse(text: str) -> Query:
    return _ClauseParser(_tokens(text)).query()


class _ClauseParser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        token = self.token
        self.index += 1
        return token

    def fail(self, expected: str) -> QueryError:
        token = self.token
        if token.kind == "end":
            return QueryError(f"Expecting {expected} before the end of the query.")
        return QueryError(f"Expecting {expected} but got '{token.text}'. (line 1, character {token.position})")

    def accept(self, *words: str) -> bool:
        if self.token.is_word(*words) or (self.token.kind == "operator" and self.token.text in words):
            self.index += 1
            return True
        return False

    def punctuation(self, text: str) -> bool:
        if self.token.kind == "punctuation" and self.token.text == text:
            self.index += 1
            return True
        return False

    def query(self) -> Query:
        starts_order = self.token.is_word("order") and self.tokens[self.index + 1].is_word("by")
        where = None if self.token.kind == "end" or starts_order else self.either()
        order: list[Order] = []
        if self.accept("order"):
            if not self.accept("by"):
                raise self.fail("'BY'")
            order.append(self.order())
            while self.punctuation(","):
                order.append(self.order())
        if self.token.kind != "end":
            raise self.fail("either 'OR' or 'AND'")
        return Query(where, tuple(order))

    def order(self) -> Order:
        if self.token.kind not in ("word", "string"):
            raise self.fail("a field name")
        name = self.take().text
        descending = self.token.is_word("desc")
        self.accept("asc", "desc")
        return Order(name, descending)

    def either(self) -> Node:
        parts = [self.both()]
        while self.accept("or", "||", "|"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def both(self) -> Node:
        parts = [self.negation()]
        while self.accept("and", "&&", "&"):
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def negation(self) -> Node:
        if self.accept("not", "!"):
            return NotClause(self.negation())
        if self.punctuation("("):
            inner = self.either()
            if not self.punctuation(")"):
                raise self.fail("')'")
            return inner
        return self.clause()

    def clause(self) -> Clause:
        token = self.token
        if token.kind not in ("word", "string") or token.is_word(*_RESERVED):
            raise self.fail("a field name")
        name = self.take().text
        operator = self.operator()
        if operator == "changed":
            return Clause(name, operator, (), self.predicates())
        operands = self.operand_list() if operator.endswith("in") else (self.operand(),)
        return Clause(name, operator, operands, self.predicates() if operator.startswith("was") else ())

    def operator(self) -> str:
        token = self.token
        if token.kind == "operator":
            return self.take().text
        if self.accept("in"):
            return "in"
        if self.accept("not"):
            if not self.accept("in"):
                raise self.fail("'IN'")
            return "not in"
        if self.accept("is"):
            return "is not" if self.accept("not") else "is"
        if self.accept("changed"):
            return "changed"
        if self.accept("was"):
            negated = "was not" if self.accept("not") else "was"
            return f"{negated} in" if self.accept("in") else negated
        raise self.fail("an operator such as '=', '!=', '<', '>', '~', 'in' or 'is'")

    def operand_list(self) -> tuple[Operand, ...]:
        if not self.punctuation("("):
            operand = self.operand()
            if isinstance(operand, Function):
                return (operand,)
            raise QueryError(f"The operator 'in' needs a list in parentheses, not '{operand.text}'.")
        operands = [self.operand()]
        while self.punctuation(","):
            operands.append(self.operand())
        if not self.punctuation(")"):
            raise self.fail("')' or ','")
        return tuple(operands)

    def operand(self) -> Operand:
        token = self.token
        if token.kind not in ("word", "string") or token.is_word(*_RESERVED):
            raise self.fail("either a value, list or function")
        self.take()
        if token.kind == "word" and self.punctuation("("):
            arguments: list[str] = []
            while not self.punctuation(")"):
                if self.token.kind not in ("word", "string"):
                    raise self.fail("an argument or ')'")
                arguments.append(self.take().text)
                self.punctuation(",")
            return Function(token.text, tuple(arguments))
        return Value(token.text, token.kind == "string")

    def predicates(self) -> tuple[Predicate, ...]:
        found: list[Predicate] = []
        while self.token.is_word(*_PREDICATES):
            name = self.take().text.lower()
            is_list = self.token.kind == "punctuation" and self.token.text == "("
            found.append(Predicate(name, self.operand_list() if is_list else (self.operand(),)))
        return tuple(found)
