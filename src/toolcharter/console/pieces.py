"""Pieces that several pages have."""

from mcp_core.app import App
from toolcharter.output.markup import Html, element

_GOOD, _FAIR = 90, 70


def copyable(text: str) -> Html:
    """A block of text to copy. The script `copy.js` adds its button."""
    return element("div", element("pre", element("code", text), tabindex="0"), class_="copy")


def tag(text: str, kind: str = "") -> Html:
    """A short mark beside a name; `kind` is good, warn or bad."""
    return element("span", text, class_=f"tag {kind}".strip())


def shortcut(key: str) -> Html:
    """The key that goes to a field, beside its label. The field has `aria_keyshortcuts` for those who cannot see it."""
    return element("kbd", key, aria_hidden="true")


def score_kind(score: int) -> str:
    """The kind of the tag of a score."""
    return "good" if score >= _GOOD else "warn" if score >= _FAIR else "bad"


def breadcrumb(app: App) -> Html:
    """Links to the list of everything, and of this server."""
    link = element("a", app.title, href=f"/console/tools?server={app.name}")
    links = element("p", element("a", "Tools", href="/console/tools"), " / ", link, class_="note")
    return element("nav", links, aria_label="Above this page")
