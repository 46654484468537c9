"""JQL: which issues a query selects, and in which order."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

from mcp_atl.sandbox.documents import plain_text
from mcp_atl.sandbox.http import optional_object
from mcp_atl.sandbox.jira.fields import EPIC_LINK, RANK, SPRINT, Field, find_field, find_in_projects
from mcp_atl.sandbox.query_dates import is_whole_day, parse_date
from mcp_atl.sandbox.query_language import Both, Clause, Either, Function, Node, Not, Operand, Query, QueryError, parse
from mcp_atl.sandbox.state import Issue, IssueLink, State, User

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


def select(state: State, user: User, jql: str) -> list[Issue]:
    """The issues that the user can see and the query selects, in its order."""
    try:
        query = parse(jql)
    except QueryError as error:
        raise QueryError(f"Error in the JQL Query: {error}") from None
    return run(state, user, query)


def run(state: State, user: User, query: Query) -> list[Issue]:
    compiler = _Compiler(state, user)
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


class _Compiler:
    """Turns a query into a test of issues, for one user."""

    def __init__(self, state: State, user: User) -> None:
        self.state = state
        self.user = user
        self.now = state.now()

    def compile(self, node: Node) -> Test:
        match node:
            case Both(parts):
                tests = [self.compile(part) for part in parts]
                return lambda issue: all(test(issue) for test in tests)
            case Either(parts):
                tests = [self.compile(part) for part in parts]
                return lambda issue: any(test(issue) for test in tests)
            case Not(part):
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
        return lambda issue: bool(self.values(issue, key)) == negated

    def text(self, clause: Clause, key: str) -> Test:
        operand = clause.operands[0]
        if isinstance(operand, Function):
            raise QueryError(f"The field '{clause.field}' cannot be searched with a function.")
        wanted = search_words(operand.text)

        def contains(issue: Issue) -> bool:
            return contains_words(" ".join(self.texts(issue, key)), wanted)

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
            moments = [moment for moment in map(_moment, self.values(issue, key)) if moment is not None]
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
                compare(value, clause.operator, each, each) for value in self.values(issue, key) for each in wanted
            )

        return test

    def priorities(self, clause: Clause) -> Test:
        order = list(self.state.priorities)  # the highest first
        wanted = self.resolve(clause, "priority", clause.operands[0])
        limit = -order.index(wanted[0])
        return lambda issue: compare(-order.index(issue.values["priority"]), clause.operator, limit, limit)

    def names(self, clause: Clause, key: str) -> Test:
        if clause.operator in ("<", "<=", ">", ">=") and key not in ("key", "issuekey", "issue", "id"):
            raise QueryError(f"The operator '{clause.operator}' is not supported by the '{clause.field}' field.")
        if clause.operator in ("<", "<=", ">", ">="):
            return self.key_order(clause)
        wanted = {value for operand in clause.operands for value in self.resolve(clause, key, operand)}
        negated = clause.operator in ("!=", "not in")

        def test(issue: Issue) -> bool:
            values = self.values(issue, key)
            if negated:
                # As in Jira: "assignee != mia" does not select issues without an assignee.
                return bool(values) and not wanted.intersection(values)
            return bool(wanted.intersection(values))

        return test

    def key_order(self, clause: Clause) -> Test:
        ids = self.resolve(clause, "key", clause.operands[0])
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
        wanted = {value for operand in clause.operands for value in self.resolve(clause, field.id, operand)}

        def test(issue: Issue) -> bool:
            changes = [(change, item) for change in issue.history for item in change.items if item["field"] == name]
            matching = [(change, item) for change, item in changes if self.holds(clause, field, change, item)]
            if clause.operator == "changed":
                return bool(matching)
            past = {value for _, item in matching for value in (item["from"], item["to"]) if value}
            if not changes or not clause.predicates:
                past |= set(self.values(issue, field.id))
            return bool(past & wanted) != ("not" in clause.operator)

        return test

    def holds(self, clause: Clause, field: Field, change: Any, item: Any) -> bool:
        for predicate in clause.predicates:
            match predicate.name:
                case "by":
                    values = {value for each in predicate.operands for value in self.resolve(clause, "reporter", each)}
                    if change.author not in values:
                        return False
                case "from" | "to":
                    values = {value for each in predicate.operands for value in self.resolve(clause, field.id, each)}
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

    # ---- values ----------------------------------------------------------------------------------

    def values(self, issue: Issue, key: str) -> list[Any]:  # noqa: C901, PLR0911, PLR0912 - one case for each field
        """The values of an issue to compare with: ids, numbers, dates or texts."""
        values = issue.values
        match key:
            case "key" | "issuekey" | "issue" | "id":
                return [issue.id]
            case "project":
                return [issue.project]
            case "projecttype":
                return [self.state.project_of(issue).type]
            case "statuscategory":
                return [self.state.statuses[values["status"]].category]
            case "watcher":
                return list(issue.watchers)
            case "voter":
                return list(issue.voters)
            case "worklogauthor":
                return [log.author for log in issue.worklogs]
            case "worklogdate":
                return [log.started for log in issue.worklogs]
            case "votes":
                return [len(issue.voters)]
            case "watchers" | "watches":
                return [len(issue.watchers)]
            case "attachments" | "attachment":
                return [attachment.id for attachment in issue.attachments]
            case "comment":
                return [comment.id for comment in issue.comments]
            case "subtasks":
                return [other.id for other in self.state.issues.values() if other.values.get("parent") == issue.id]
            case "issuelinktype":
                return [
                    name
                    for link in self.state.links.values()
                    for name in self.link_names(link, issue.id)
                    if issue.id in (link.inward, link.outward)
                ]
            case "timespent":
                return [sum(log.seconds for log in issue.worklogs)] if issue.worklogs else []
            case "timeoriginalestimate" | "timeestimate":
                name = "originalEstimateSeconds" if key == "timeoriginalestimate" else "remainingEstimateSeconds"
                value = optional_object(values.get("timetracking")).get(name)
                return [] if value is None else [value]
            case "hierarchylevel":
                return [self.state.issue_types[values["issuetype"]].level]
            case "parentepic" | "epic link":
                return [values["parent"]] if values.get("parent") else []
            case _:
                stored = values.get("parent" if key == EPIC_LINK else key)
                if stored is None or stored == []:
                    return []
                return cast(list[Any], stored) if isinstance(stored, list) else [stored]

    def link_names(self, link: IssueLink, issue: str) -> list[str]:
        """What a link is called, in general and from this issue: "blocks" or "is blocked by"."""
        name, inward, outward = self.state.link_types[link.type]
        return [name.casefold(), (outward if link.outward == issue else inward).casefold()]

    def texts(self, issue: Issue, key: str) -> Iterable[str]:
        if key == "text":
            return [
                text
                for each in ("summary", "description", "environment", "comment")
                for text in self.texts(issue, each)
            ]
        if key == "comment":
            return [plain_text(comment.body) for comment in issue.comments]
        return [plain_text(issue.values.get(key))]

    def resolve(self, clause: Clause, key: str, operand: Operand) -> list[Any]:
        """The ids that an operand names in a field. Raises QueryError for an unknown name."""
        if isinstance(operand, Function):
            return self.function(clause, operand)
        if operand.is_empty:
            return []
        text = operand.text
        found = self.lookup(key, text)
        if not found:
            raise QueryError(f"The value '{text}' does not exist for the field '{clause.field}'.")
        return found

    def lookup(self, key: str, text: str) -> list[Any]:
        state, wanted = self.state, text.casefold()
        tables: dict[str, Any] = {
            "status": state.statuses,
            "priority": state.priorities,
            "resolution": state.resolutions,
            "issuetype": state.issue_types,
        }
        if key in tables:
            return [each.id for each in tables[key].values() if wanted in (each.id, each.name.casefold())]
        match key:
            case "project":
                projects = state.visible_projects(self.user)
                return [each.key for each in projects if wanted in (each.id, each.key.casefold(), each.name.casefold())]
            case "key" | "issuekey" | "issue" | "id" | "parent" | "parentepic" | "epic link":
                issue = text if text in state.issues else state.issue_ids.get(text.upper(), "")
                visible = issue in state.issues and state.can_see(state.issues[issue], self.user)
                return [issue] if visible else []
            case "statuscategory":
                names = {"to do": "new", "in progress": "indeterminate", "done": "done"}
                return [names[wanted]] if wanted in names else [wanted] if wanted in names.values() else []
            case _:
                return self.lookup_other(key, text)

    def lookup_other(self, key: str, text: str) -> list[Any]:
        state, wanted = self.state, text.casefold()
        if key == EPIC_LINK:
            return self.lookup("key", text)
        if key == "issuelinktype":
            return [wanted]
        if key in (SPRINT, "sprint"):
            return [each.id for each in state.sprints.values() if wanted in (str(each.id), each.name.casefold())]
        if key in ("components", "fixVersions", "versions"):
            return [
                each.id
                for project in state.projects.values()
                for each in (project.components if key == "components" else project.versions)
                if wanted in (each.id, each.name.casefold())
            ]
        if key in state.options:
            return [each.id for each in state.options[key] if wanted in (each.id, each.name.casefold())]
        field = find_field(key, state.kind)
        if key in ("watcher", "voter", "worklogauthor") or (field and "user" in (field.type, field.items)):
            user = state.find_user(text) or next(
                (each for each in state.users.values() if each.display_name.casefold() == wanted), None
            )
            return [user.id] if user else []
        return [text]

    def function(self, clause: Clause, function: Function) -> list[Any]:
        state = self.state
        match function.name.lower():
            case "currentuser":
                return [self.user.id]
            case "opensprints" | "closedsprints" | "futuresprints":
                wanted = {"opensprints": "active", "closedsprints": "closed", "futuresprints": "future"}
                return [each.id for each in state.sprints.values() if each.state == wanted[function.name.lower()]]
            case "membersof":
                return [user.id for user in state.users.values() if user.groups.intersection(function.arguments)]
            case "releasedversions" | "unreleasedversions":
                released = function.name.lower() == "releasedversions"
                versions = [each for project in state.projects.values() for each in project.versions]
                return [each.id for each in versions if each.released == released]
            case "linkedissues":
                issue = self.lookup("key", function.arguments[0] if function.arguments else "")
                links = [link for link in state.links.values() if issue and issue[0] in (link.inward, link.outward)]
                if len(function.arguments) > 1:
                    wanted_name = function.arguments[1].casefold()
                    links = [link for link in links if wanted_name in self.link_names(link, issue[0])]
                return [link.inward if link.outward == issue[0] else link.outward for link in links]
            case "standardissuetypes" | "subtaskissuetypes":
                sub = function.name.lower() == "subtaskissuetypes"
                return [each.id for each in state.issue_types.values() if (each.level < 0) == sub]
            case "watchedissues" | "votedissues":
                watched = function.name.lower() == "watchedissues"
                return [
                    issue.id
                    for issue in state.issues.values()
                    if self.user.id in (issue.watchers if watched else issue.voters)
                ]
            case _:
                raise QueryError(
                    f"Unable to find JQL function '{function.name}({', '.join(function.arguments)})' "
                    f"for the field '{clause.field}'."
                )

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
        return lambda issue: self.sort_value(field, self.values(issue, key))

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


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    return datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC) if isinstance(value, str) else None


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
