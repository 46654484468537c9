"""The section in which a person tries something. The script `try.js` makes its form from the schema."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mcp_core.app import App
from toolcharter.console.page import View
from toolcharter.console.pieces import copyable
from toolcharter.output.markup import Html, element
from toolcharter.serving.terminal import PLACEHOLDER, address

Method = Literal["tools/call", "prompts/get", "resources/read"]
FILES = ("try.css", "try.js", "copy.js")


def section(
    view: View,
    app: App,
    method: Method,
    name: str,
    schema: Mapping[str, Any],
    *,
    examples: Sequence[tuple[str, Mapping[str, Any]]] = (),
    destructive: bool = False,
) -> Html:
    """The section. An example is a description and the arguments that it fills in."""
    url = address(app, view.console.site.base_url)
    command = f"toolcharter call {f'--token {PLACEHOLDER} ' if app.verifier else ''}{url} {name}"
    in_terminal = copyable(command) if method == "tools/call" else None
    return element(
        "section",
        element("h2", "Try it", id="try-title"),
        element("noscript", element("p", "The form needs JavaScript."), in_terminal),
        element("div", id="form"),
        class_="card try",
        id="try",
        aria_labelledby="try-title",
        data_server=app.name,
        data_method=method,
        data_name=name,
        data_url=url,
        data_token=PLACEHOLDER if app.verifier else None,
        data_destructive=destructive,
        data_schema=to_json(schema),
        data_examples=to_json([{"description": words, "params": dict(params)} for words, params in examples]),
    )


def to_json(value: Any, indent: int | None = None) -> str:
    """JSON to show."""
    return json.dumps(value, ensure_ascii=False, default=str, indent=indent)
