"""JQL: which issues a query selects, and in which order."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from atlassian_sandbox.documents import plain_text
from atlassian_sandbox.jira.fields import RANK, Field, find_field, find_in_projects
from atlassian_sandbox.jql_values import JqlValues
from atlassian_sandbox.model import Issue, SiteUser
from atlassian_sandbox.query_comparison import compare, contains_words, search_words
from atlassian_sandbox.query_dates import is_whole_day, parse_date
from atlassian_sandbox.query_language import (
    Both,
    Clause,
    Either,
    Function,
    Node,
    NotClause,
    Operand,
    Query,
    QueryError,
    parse,
)
from atlassian_sandbox.state import SiteState

Test = Callable[[Issue], bool]

# Names in JQL that are not fields, or are fields under another name.
ALIASES = {
    "type": "issuetype",
    "issuetype": "issuetype",
    "fixversion": "fixVersions",
    "affectedversion": "versions",
    "component": "components",
    "due": "duedate",
    "createddate": "created",
    "updateddate": "updated",
    "resolved": "resolutiondate",
    "resolutiondate": "resolutiondate",
    "originalestimate": "timeoriginalestimate",
    "remainingestimate": "timeestimate",
}
TEXT_FIELDS = ("summary", "description", "environment", "comment", "text")
SPECIAL = (
    "key", "issuekey", "issue", "id", "text", "statuscategory", "comment", "filter", "watcher", "voter", "parentepic",
    "epic link", "attachments", "watchers", "votes", "worklogauthor", "worklogdate", "project", "projecttype",
    "subtasks", "issuelinktype", "timespent", "parent", "sprint", "rank", "hierarchylevel", "creator",
)  # fmt: skip


def select(state: SiteState, user: SiteUser, jql: str) -> list[Issue]:
    """The issues that the user can see and the query selects, in its order."""
    try:
        query = parse(jql)
    except QueryError as error:
        raise QueryError(f"Error in the JQL Query: {error}") from None
    return run(state, user, query)


def run(state: SiteState, user: SiteUser, query: Query) -> list[Issue]:
    compiler = _JqlCompiler(state, user)
    test = compiler.compile(query.where) if query.where is not None else _always
    issues = [issue for issue in state.visible_issues(user) if test(issue)]
    issues.sort(key=lambda issue: int(issue.id), reverse=True)
    for order in reversed(query.order):
        key = compiler.sort_key(order.field)
        issues.sort(key=lambda issue: _sortable(key(issue), descending=order.descending), reverse=order.descending)
    return issues


def _always(_: Issue) -> bool:
    return True


def _sortable(value: Any, *, descending: bool) -> tuple[bool, Any]:
    """Empty values come last, whatever the direction."""
    return ((value is not None) if descending else (value is None), 0 if value is None else value)


class _JqlCompiler:
    """Turns a query into a test of issues, for one user."""

    def __init__(self, state: SiteState, user: SiteUser) -> None:
        self.state = state
        self.fields = JqlValues(state, user)
        self.now = state.now()

    def compile(self, node: Node) -> Test:
        match node:
            case Both(parts):
                tests = [self.compile(part) for part in parts]
                return lambda issue: all(test(issue) for test in tests)
            case Either(parts):
                tests = [self.compile(part) for part in parts]
                return lambda issue: any(test(issue) for test in tests)
            case NotClause(part):
                test = self.compile(part)
                return lambda issue: not test(issue)
            case Clause():
                return self.clause(node)

    # ---- clauses ---------------------------------------------------------------------------------

    def clause(self, clause: Clause) -> Test:
        name = ALIASES.get(clause.field.lower(), clause.field)
        field = find_field(name, self.state.kind)
        if field is None and name.lower() not in SPECIAL:
            raise QueryError(f"Field '{clause.field}' does not exist or you do not have permission to view it.")
        if clause.operator in ("was", "was not", "was in", "was not in", "changed"):
            return self.history(clause, field)
        if name.lower() == "filter":
            return self.saved_filter(clause)
        key = field.id if field else name.lower()
        of_type = field.items or field.type if field else ""
        is_text = key in TEXT_FIELDS or of_type == "text" or (of_type == "string" and key != "labels")
        self.check_operator(clause, is_text=is_text)
        if clause.operator in ("~", "!~"):
            return self.text(clause, key)
        if clause.operator in ("is", "is not") or self.asks_for_empty(clause):
            return self.emptiness(clause, key)
        if of_type in ("date", "datetime") or key == "worklogdate":
            return self.dates(clause, key)
        if of_type == "number" or key in ("votes", "watchers", "hierarchylevel"):
            return self.numbers(clause, key)
        if of_type == "priority" and clause.operator in ("<", "<=", ">", ">="):
            return self.priorities(clause)
        return self.names(clause, key)

    def check_operator(self, clause: Clause, *, is_text: bool) -> None:
        if clause.operator in ("~", "!~") and not is_text:
            raise QueryError(f"The operator '{clause.operator}' is not supported by the '{clause.field}' field.")
        if is_text and clause.operator not in ("~", "!~", "is", "is not"):
            raise QueryError(f"The operator '{clause.operator}' is not supported by the '{clause.field}' field.")

    def asks_for_empty(self, clause: Clause) -> bool:
        operand = clause.operands[0]
        if len(clause.operands) > 1 or isinstance(operand, Function):
            return False
        return operand.is_empty or (clause.field.lower() == "resolution" and operand.text.lower() == "unresolved")

    def emptiness(self, clause: Clause, key: str) -> Test:
        if not self.asks_for_empty(clause):
            raise QueryError(f"The operator '{clause.operator}' needs the value EMPTY.")
        negated = clause.operator in ("is not", "!=", "not in")
        return lambda issue: bool(self.fields.values(issue, key)) == negated

    def text(self, clause: Clause, key: str) -> Test:
        operand = clause.operands[0]
        if isinstance(operand, Function):
            raise QueryError(f"The field '{clause.field}' cannot be searched with a function.")
        wanted = search_words(operand.text)

        def contains(issue: Issue) -> bool:
            return contains_words(" ".join(self.fields.texts(issue, key)), wanted)

        return contains if clause.operator == "~" else lambda issue: not contains(issue)

    def dates(self, clause: Clause, key: str) -> Test:
        def bounds(operand: Operand) -> tuple[datetime, datetime]:
            moment = parse_date(operand, self.now)
            if moment is None:
                shown = operand.name if isinstance(operand, Function) else operand.text
                raise QueryError(
                    f"Date value '{shown}' for field '{clause.field}' is invalid. Valid formats include: "
                    "'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format "
                    "e.g. '-5d', '4w 2d'."
                )
            return moment, moment + timedelta(days=1, microseconds=-1) if is_whole_day(operand) else moment

        limits = [bounds(operand) for operand in clause.operands]

        def test(issue: Issue) -> bool:
            moments = [moment for moment in map(_moment, self.fields.values(issue, key)) if moment is not None]
            return any(compare(moment, clause.operator, low, high) for moment in moments for low, high in limits)

        return test

    def numbers(self, clause: Clause, key: str) -> Test:
        def number(operand: Operand) -> float:
            try:
                return float("" if isinstance(operand, Function) else operand.text)
            except ValueError:
                raise QueryError(f"Value '{operand}' is invalid for the '{clause.field}' field.") from None

        wanted = [number(operand) for operand in clause.operands]

        def test(issue: Issue) -> bool:
            return any(
                compare(value, clause.operator, each, each)
                for value in self.fields.values(issue, key)
                for each in wanted
            )

        return test

    def priorities(self, clause: Clause) -> Test:
        order = list(self.state.priorities)  # the highest first
        wanted = self.fields.resolve(clause, "priority", clause.operands[0])
        limit = -order.index(wanted[0])
        return lambda issue: compare(-order.index(issue.values["priority"]), clause.operator, limit, limit)

    def names(self, clause: Clause, key: str) -> Test:
        if clause.operator in ("<", "<=", ">", ">=") and key not in ("key", "issuekey", "issue", "id"):
            raise QueryError(f"The operator '{clause.operator}' is not supported by the '{clause.field}' field.")
        if clause.operator in ("<", "<=", ">", ">="):
            return self.key_order(clause)
        wanted = {value for operand in clause.operands for value in self.fields.resolve(clause, key, operand)}
        negated = clause.operator in ("!=", "not in")

        def test(issue: Issue) -> bool:
            values = self.fields.values(issue, key)
            if negated:
                # As in Jira: "assignee != mia" does not select issues without an assignee.
                return bool(values) and not wanted.intersection(values)
            return bool(wanted.intersection(values))

        return test

    def key_order(self, clause: Clause) -> Test:
        ids = self.fields.resolve(clause, "key", clause.operands[0])
        other = self.state.issues[ids[0]]
        number = int(other.key.rpartition("-")[2])

        def test(issue: Issue) -> bool:
            same = issue.project == other.project
            return same and compare(int(issue.key.rpartition("-")[2]), clause.operator, number, number)

        return test

    def saved_filter(self, clause: Clause) -> Test:
        tests: list[Test] = []
        for operand in clause.operands:
            wanted = "" if isinstance(operand, Function) else operand.text
            filters = [each for each in self.state.filters.values() if wanted in (each.id, each.name)]
            if not filters:
                raise QueryError(f"The value '{wanted}' does not exist for the field 'filter'.")
            where = parse(filters[0].jql).where
            tests.append(self.compile(where) if where is not None else _always)
        negated = clause.operator in ("!=", "not in")
        return lambda issue: any(test(issue) for test in tests) != negated

    # ---- history ---------------------------------------------------------------------------------

    def history(self, clause: Clause, field: Field | None) -> Test:
        if field is None or field.id not in ("status", "assignee", "priority", "resolution", "fixVersions", "reporter"):
            raise QueryError(f"The operator '{clause.operator}' is not supported by the '{clause.field}' field.")
        name = {"fixVersions": "Fix Version"}.get(field.id, field.id)
        wanted = {value for operand in clause.operands for value in self.fields.resolve(clause, field.id, operand)}

        def test(issue: Issue) -> bool:
            changes = [(change, item) for change in issue.history for item in change.items if item["field"] == name]
            matching = [(change, item) for change, item in changes if self.holds(clause, field, change, item)]
            if clause.operator == "changed":
                return bool(matching)
            past = {value for _, item in matching for value in (item["from"], item["to"]) if value}
            if not changes or not clause.predicates:
                past |= set(self.fields.values(issue, field.id))
            return bool(past & wanted) != ("not" in clause.operator)

        return test

    def holds(self, clause: Clause, field: Field, change: Any, item: Any) -> bool:
        for predicate in clause.predicates:
            match predicate.name:
                case "by":
                    values = {
                        value for each in predicate.operands for value in self.fields.resolve(clause, "reporter", each)
                    }
                    if change.author not in values:
                        return False
                case "from" | "to":
                    values = {
                        value for each in predicate.operands for value in self.fields.resolve(clause, field.id, each)
                    }
                    if item[predicate.name] not in values:
                        return False
                case _:
                    if not self.in_time(predicate.name, predicate.operands, change.created):
                        return False
        return True

    def in_time(self, name: str, operands: tuple[Operand, ...], moment: datetime) -> bool:
        limits = [parse_date(operand, self.now) or self.now for operand in operands]
        match name:
            case "after":
                return moment > limits[0]
            case "before":
                return moment < limits[0]
            case "on":
                return moment.date() == limits[0].date()
            case _:
                return limits[0] <= moment <= limits[-1]

    # ---- order -----------------------------------------------------------------------------------

    def sort_key(self, name: str) -> Callable[[Issue], Any]:
        key = ALIASES.get(name.lower(), name)
        field = find_field(key, self.state.kind)
        if field is None and key.lower() not in SPECIAL:
            raise QueryError(f"Field '{name}' does not exist or you do not have permission to view it.")
        key = field.id if field else key.lower()
        if key in ("key", "issuekey", "issue"):
            return lambda issue: (issue.project, int(issue.key.rpartition("-")[2]))
        if key in (RANK, "rank"):
            return lambda issue: self.state.ranks.index(issue.id)
        if key == "priority":
            order = list(self.state.priorities)
            return lambda issue: -order.index(issue.values["priority"])
        return lambda issue: self.sort_value(field, self.fields.values(issue, key))

    def sort_value(self, field: Field | None, values: list[Any]) -> Any:
        if not values:
            return None
        value = values[0]
        of_type = field.items or field.type if field else ""
        if of_type == "user":
            return self.state.user(value).display_name
        if of_type in ("component", "version"):
            return find_in_projects(self.state, of_type, value).name
        return plain_text(value) if isinstance(value, dict) else value


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    return datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC) if isinstance(value, str) else None
