"""One page that shows the list, and one address that changes it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from toolcharter.console import ConsolePage, Html, ToolFailed, View, element, join, shortcut, tag
from toolcharter.plurals import count

PATH = "/console/todo"
_STATUSES = {"pending": "To do", "completed": "Done", "all": "All"}
_CHANGES = {
    "add": ("add_task", ("title", "description")),
    "complete": ("complete_task", ("task_id",)),
    "edit": ("update_task", ("task_id", "title", "description")),
    "delete": ("delete_task", ("task_id",)),
}
"""The actions of the buttons: the tool, and which fields of the form are its arguments."""
_FILES = ["todo.css", "todo.js"]
_NOTHING: Mapping[str, str] = {}


async def _show(view: View) -> Response:
    user, status = _user(view, view.parameter("user")), view.parameter("status")
    changed = view.parameter("changed")
    undo = _undo(view, "The task was changed.", "Undo", "complete", _known(user, status), task_id=changed)
    return await _list(view, user, status, notice=undo if changed else None)


async def _change(view: View) -> Response:
    form = view.form
    user, status = _user(view, form.get("user", "")), form.get("status", "")
    tool, fields = _CHANGES.get(form.get("change", ""), ("", ()))
    arguments = {name: form[name] for name in fields if name in form}
    if arguments.get("description") == "" and tool == "add_task":
        del arguments["description"]
    try:
        await view.call(view.app("todo"), tool, {"user_id": user, **arguments})
    except ToolFailed as error:
        return await _list(view, user, status, problem=str(error), refused=form)
    if tool == "delete_task":
        fields = {name: form.get(name, "") for name in ("title", "description")}
        words = f"“{fields['title']}” was deleted."
        return await _list(
            view, user, status, notice=_undo(view, words, "Add it again", "add", _known(user, status), **fields)
        )
    changed = arguments["task_id"] if tool == "complete_task" else ""
    query = urlencode(_given(user=user, status=status, changed=changed))
    # The field has the focus after a task was added, for the next one.
    return RedirectResponse(f"{PATH}?{query}{'#title' if tool == 'add_task' else ''}", 303)


def _given(**fields: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _user(view: View, asked: str) -> str:
    """Whose list it is: that of the person who signed in, of the only user, or of whom the address names."""
    app = view.app("todo")
    return view.viewer.callers[app.name].user_id or app.settings.user or asked.strip()


async def _list(
    view: View,
    user: str,
    status: str,
    *,
    problem: str = "",
    notice: Html | None = None,
    refused: Mapping[str, str] = _NOTHING,
) -> Response:
    """The page. What was written into a form that was refused stays in it."""
    if not user:
        return view.page("Todo list", element("h1", "Todo list"), _ask_user(), scripts=_FILES)
    status = status if status in _STATUSES else "pending"
    try:
        answer = await view.call(view.app("todo"), "list_tasks", {"user_id": user, "status": status})
    except ToolFailed as error:
        words = element("p", str(error), class_="problem", role="alert")
        return view.page("Todo list", element("h1", "Todo list"), words, scripts=_FILES, status=403)
    tasks: list[dict[str, Any]] = answer.value
    known = _known(user, status)
    return view.page(
        "Todo list",
        element("h1", "Todo list ", element("small", user)),
        element("p", problem, class_="problem", role="alert") if problem else "",
        notice or "",
        _add_form(view, known, refused if refused.get("change") == "add" else _NOTHING),
        _filter(user, status),
        element("p", _summary(len(tasks), status), class_="note"),
        element("ul", [_task(view, task, known, refused) for task in tasks], class_="tasks", role="list"),
        scripts=_FILES,
        status=400 if problem else 200,
    )


def _known(user: str, status: str) -> Html:
    """The hidden fields that every form has: whose list it is, and which tasks are shown."""
    return join(_hidden("user", user), _hidden("status", status))


def _undo(view: View, words: str, button: str, change: str, known: Html, **fields: str) -> Html:
    """The last change, and a button that undoes it."""
    hidden = [_hidden(name, value) for name, value in fields.items()]
    undo = element("button", button, type="submit", class_="small")
    return _form(view, change, known, *hidden, element("span", words, dir="auto"), undo, class_="card row notice")


def _summary(number: int, status: str) -> str:
    if not number:
        return {"pending": "Nothing is left to do.", "completed": "Nothing is done yet."}.get(status, "No task yet.")
    return count(number, "task")


def _ask_user() -> Html:
    """The form for a list that several people share without signing in."""
    field = element("input", id="user", name="user", required=True, autocomplete="username")
    return element(
        "form",
        element("label", "Whose list?", for_="user"),
        element("div", field, element("button", "Show", type="submit"), class_="line"),
        element("p", "The user_id that the agent uses. Start the server with --user to have only one.", class_="note"),
        method="get",
        action=PATH,
    )


def _filter(user: str, status: str) -> Html:
    links = [
        element(
            "a",
            label,
            href=f"{PATH}?{urlencode({'user': user, 'status': value})}",
            aria_current="true" if value == status else None,
        )
        for value, label in _STATUSES.items()
    ]
    return element("nav", links, class_="choices", aria_label="Which tasks")


def _add_form(view: View, known: Html, given: Mapping[str, str]) -> Html:
    title = element(
        "input",
        id="title",
        name="title",
        required=True,
        placeholder="Buy milk",
        value=given.get("title"),
        aria_keyshortcuts="n",
    )
    text = given.get("description", "")
    details = element("textarea", text, id="description", name="description", rows="2")
    return _form(
        view,
        "add",
        known,
        element("label", "New task ", shortcut("N"), for_="title"),
        element("div", title, element("button", "Add", type="submit"), class_="line"),
        element(
            "details",
            element("summary", "With a description"),
            element("label", "Description", for_="description"),
            details,
        ),
        class_="card",
    )


def _task(view: View, task: Mapping[str, Any], known: Html, refused: Mapping[str, str]) -> Html:
    identity, done = str(task["id"]), bool(task["is_completed"])
    known = join(known, _hidden("task_id", identity))
    word = "Reopen" if done else "Done"
    text = element(
        "div",
        element("strong", task["title"], dir="auto"),
        tag("done", "good") if done else None,
        element("p", task["description"], dir="auto") if task["description"] else None,
        class_="text",
    )
    complete = element("button", word, type="submit", class_="quiet", aria_label=f"{word}: {task['title']}")
    return element(
        "li",
        text,
        _form(view, "complete", known, complete),
        _edit(view, task, known, refused),
        class_="done" if done else None,
    )


def _edit(view: View, task: Mapping[str, Any], known: Html, refused: Mapping[str, str]) -> Html:
    is_refused = refused.get("change") == "edit" and refused.get("task_id") == str(task["id"])
    given = refused if is_refused else task
    title, details = f"title-{task['id']}", f"description-{task['id']}"
    fields = _form(
        view,
        "edit",
        known,
        element("label", "Title", for_=title),
        element("input", id=title, name="title", required=True, value=given.get("title"), dir="auto"),
        element("label", "Description", for_=details),
        element(
            "textarea",
            given.get("description") or "",
            id=details,
            name="description",
            rows="2",
            dir="auto",
        ),
        element("p", element("button", "Save", type="submit")),
    )
    delete = element("button", "Delete for good", type="submit", class_="danger")
    again = (_hidden("title", task["title"]), _hidden("description", task["description"] or ""))
    return element(
        "details",
        element("summary", element("span", "Edit"), element("span", "Close"), aria_label=f"Edit: {task['title']}"),
        fields,
        _form(view, "delete", known, *again, delete),
        open=is_refused,
    )


def _form(view: View, change: str, *content: Html, class_: str | None = None) -> Html:
    return element(
        "form", view.csrf_field(), _hidden("change", change), content, method="post", action=PATH, class_=class_
    )


def _hidden(name: str, value: str) -> Html:
    return element("input", type="hidden", name=name, value=value)


PAGES = [ConsolePage(PATH, _show, "Todo", 60), ConsolePage(PATH, _change, changes=True)]
