"""Parts of a page: a section, exact text, its title, labels and restrictions."""

from typing import Any, NamedTuple

from mcp_atl.answers.users import short_user
from mcp_atl.client.confluence import ConfluenceApi, ConfluencePage, PageRestriction, confluence
from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from mcp_atl.edit.document import DocumentEdit
from mcp_atl.edit.opening import convert, open_document
from mcp_atl.resolve.users import find_user_id
from mcp_atl.tools.get_page import find_page
from toolcharter import Conflict, InvalidArguments, instructions

WAYS = "section with body, after with body, old_text with new_text, append or prepend with body, replace_page with body"


class _Plan(NamedTuple):
    """The steps of an update of a page."""

    edit: DocumentEdit | None
    title: str | None


async def update_page(call: CommandCall[Any], id: str) -> Json:
    """Change what was named, after a check that nobody saved the page in between."""
    options, api = call.parameters, confluence(call.connection)
    page = await find_page(api, id)
    if options.version is not None and options.version != page.version:
        raise await saved_meanwhile(api, page, options.version)
    edit = await convert(lambda: _edit(call, page), page.size + len(options.body or ""))
    plan = _Plan(edit, options.title)
    if plan.edit is None and plan.title is None and options.labels is None and not options.restrict:
        raise InvalidArguments(
            f"parameters: nothing to update. For the text, give {WAYS}; else title, labels or restrict.",
            fields=("parameters",),
        )
    shown: Json = {"id": page.id, "title": plan.title or page.title, "version": page.version}
    if plan.edit is not None:
        shown["change"] = plan.edit.summary
    if options.dry_run:
        return shown | {"dry_run": True}
    if plan.edit is not None or plan.title is not None:
        shown["version"] = (await _save(api, page, plan, options.message)).version
    if options.labels is not None:
        await _set_labels(api, page.id, options.labels)
    if options.restrict:
        await _restrict(call, api, page.id)
    return shown


def _edit(call: CommandCall[Any], page: ConfluencePage) -> DocumentEdit | None:
    """The one change of the text that the options name."""
    options, site = call.parameters, call.connection.site
    ways = {
        "section": options.section is not None,
        "after": options.after is not None,
        "old_text": options.old_text is not None,
        "append": options.append,
        "prepend": options.prepend,
        "replace_page": options.replace_page,
    }
    chosen = [name for name, given in ways.items() if given]
    if len(chosen) > 1 or (not chosen and options.body is not None):
        named = f"{' and '.join(chosen)} are given" if chosen else "body alone is given"
        raise InvalidArguments(
            f"parameters: {named}; one change of the text is made at a time: {WAYS}.", fields=("parameters",)
        )
    if not chosen:
        return None
    document = open_document(site.kind, page.body)
    if chosen == ["old_text"]:
        if options.new_text is None:
            raise InvalidArguments("parameters.new_text: is required with old_text.", fields=("parameters",))
        return document.replace_text(options.old_text, options.new_text)
    if options.body is None:
        raise InvalidArguments(f"parameters.body: is required with {chosen[0]}.", fields=("parameters",))
    match chosen[0]:
        case "section":
            return document.replace_section(options.section, options.body, remove_objects=options.remove_objects)
        case "after":
            return document.insert_after(options.after, options.body)
        case "append":
            return document.append(options.body)
        case "prepend":
            return document.prepend(options.body)
        case _:
            return document.replace_all(options.body, remove_objects=options.remove_objects)


async def _save(api: ConfluenceApi, page: ConfluencePage, plan: _Plan, message: str | None) -> ConfluencePage:
    body = plan.edit.body if plan.edit is not None else page.body
    try:
        return await api.update_page(page, title=plan.title or page.title, body=body, message=message)
    except Conflict as error:
        current = await api.page(page.id, body=False)
        if current.version == page.version:
            raise
        raise await saved_meanwhile(api, current, page.version) from error


async def saved_meanwhile(api: ConfluenceApi, current: ConfluencePage, expected: int) -> Conflict:
    """The error for a page that somebody else saved: who, and when."""
    editor = short_user(current.editor) or {}
    if editor.get("id") and not editor.get("name"):  # Cloud names people by their ids only
        editor = short_user(await api.user(str(editor["id"]))) or editor
    return Conflict(
        f"The page {current.title!r} is at version {current.version}, not {expected}: "
        f"{editor.get('name') or 'somebody'} saved it at {current.updated_at}. Nothing was written. Read it again and "
        "repeat the change.",
        instruction=instructions.suggest_before_retrying("reading the page again"),
    )


async def _set_labels(api: ConfluenceApi, id: str, wanted: list[str]) -> None:
    known = await api.labels(id)
    if new := [name for name in wanted if name not in known]:
        await api.add_labels(id, new)
    for name in known:
        if name not in wanted:
            await api.remove_label(id, name)


async def _restrict(call: CommandCall[Any], api: ConfluenceApi, id: str) -> None:
    if unknown := [name for name in call.parameters.restrict if name not in ("read", "update")]:
        raise InvalidArguments(
            f"parameters.restrict: {', '.join(unknown)} is neither read nor update.", fields=("parameters",)
        )
    restrictions: list[PageRestriction] = []
    for operation, who in call.parameters.restrict.items():
        users = [await find_user_id(call.connection, name) for name in who.users]
        restrictions.append(PageRestriction(operation, users, who.groups))
    await api.set_restrictions(id, restrictions)
