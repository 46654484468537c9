"""Issues, one or many."""

from collections.abc import Mapping
from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import list_at, object_at
from mcp_atl.command import CommandCall
from mcp_atl.resolve.times import now_of
from mcp_atl.resolve.values import FieldValues
from mcp_atl.tools.creations.options import dry_run_answer, required_options
from mcp_atl.tools.listings.projects import issue_type_id
from toolcharter import InvalidArguments

AT_ONCE = 50
"""Most issues of one request to the site."""


async def create_issue(call: CommandCall[Any]) -> Json:
    """One issue."""
    required_options(call, "project", "summary")
    values = FieldValues(call.connection, now_of(call.context))
    fields = await values.to_site(_values(call, {}))
    if call.parameters.dry_run:
        await _check(call, fields, values)
        return dry_run_answer(fields)
    made = await jira(call.connection).create_issue(fields)
    return {"key": made["key"], "id": made["id"]}


async def create_issues(call: CommandCall[Any]) -> Json:
    """Many issues. Those that the site refuses are named; the others are created."""
    required_options(call, "project")
    if not call.parameters.issues:
        raise InvalidArguments("parameters.issues: is required to create 'issues'.", fields=("parameters",))
    if unnamed := [str(index) for index, one in enumerate(call.parameters.issues) if not one.get("summary")]:
        raise InvalidArguments(
            f"parameters.issues: the entries {', '.join(unnamed)} have no summary.", fields=("parameters",)
        )
    values = FieldValues(call.connection, now_of(call.context))
    issues = [await values.to_site(_values(call, one)) for one in call.parameters.issues]
    if call.parameters.dry_run:
        for fields in issues:
            await _check(call, fields, values)
        return dry_run_answer(issues)
    keys: list[str] = []
    failed: list[Json] = []
    for start in range(0, len(issues), AT_ONCE):
        made = await jira(call.connection).create_issues(issues[start : start + AT_ONCE])
        keys += [one["key"] for one in list_at(made, "issues")]
        for error in list_at(made, "errors"):
            place = start + int(error.get("failedElementNumber", 0))
            failed.append({"entry": place, "summary": issues[place]["summary"], "error": _words(error)})
        await call.context.report_progress(min(start + AT_ONCE, len(issues)), len(issues), "issues created")
    return {"keys": keys, "failed": failed}


def _values(call: CommandCall[Any], own: Mapping[str, Any]) -> dict[str, Any]:
    options = call.parameters
    shared = {
        "project": options.project,
        "type": options.type,
        "summary": options.summary,
        "description": options.description,
        "parent": options.parent,
    }
    values = {name: value for name, value in shared.items() if value is not None} | options.fields | dict(own)
    if "issuetype" in values:
        values["type"] = values.pop("issuetype")
    return values


async def _check(call: CommandCall[Any], fields: Json, values: FieldValues) -> None:
    """Refuse what the site would refuse: fields that the form does not have, and required ones that are missing."""
    project = str(call.parameters.project)
    kind = object_at(fields, "issuetype")
    type_id = await issue_type_id(call.connection, project, str(kind.get("id") or kind.get("name")))
    page = await jira(call.connection).create_fields(project, type_id, 0, 200)
    form = {str(one.get("fieldId") or one.get("key")): one for one in page.items}
    unknown = [await values.fields.name_of(field) for field in fields if field not in form]
    missing = [
        str(one.get("name"))
        for field, one in form.items()
        if one.get("required") and not one.get("hasDefaultValue") and field not in fields
    ]
    problems = [f"cannot be set here: {', '.join(unknown)}"] if unknown else []
    problems += [f"required, but missing: {', '.join(missing)}"] if missing else []
    if problems:
        raise InvalidArguments(f"The site would refuse this issue. {'; '.join(problems)}.", fields=("parameters",))


def _words(error: Json) -> str:
    details = object_at(error, "elementErrors")
    texts = [str(one) for one in details.get("errorMessages") or ()]
    return "; ".join(texts + [f"{field}: {text}" for field, text in object_at(details, "errors").items()])
