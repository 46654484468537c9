"""The paths at which apps are served together."""

from collections.abc import Sequence

from mcp_core.app import App


def main_app(apps: Sequence[App]) -> App | None:
    """The app that is also served at `/mcp`: the only one, or the one that has the tools of all."""
    return apps[0] if len(apps) == 1 else next((app for app in apps if app.has_all_tools), None)


def paths(app: App, apps: Sequence[App]) -> tuple[str, ...]:
    """The paths of an app that is served beside others, its own path first."""
    return (f"/{app.name}/mcp", "/mcp") if app is main_app(apps) else (f"/{app.name}/mcp",)
