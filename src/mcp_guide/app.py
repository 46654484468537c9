"""The guide server: its tools, prompt, resources and state."""

import asyncio
import os
from collections.abc import Generator
from functools import partial
from types import ModuleType

from mcp_guide.active_project import ActiveProjects
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.example_data import install_example_data
from mcp_guide.guide import Guide
from mcp_guide.prompts.guide import guide as guide_prompt
from mcp_guide.resources import DOCUMENTS
from mcp_guide.settings import STARTER_FOLDER, GuideSettings, default_config_path, default_docs_root
from mcp_guide.skills import left_out, skills_of
from mcp_guide.tools import categories, client, collections, content, documents, export, flags, lint, modes, projects
from toolcharter import App, Naming
from toolcharter.declarations import SkillSource

VERSION = "1.0.0"
DESCRIPTION = "Your team's guidelines and documents for coding agents."

MODULES = (content, documents, lint, projects, categories, collections, flags, modes, export, client)
"""Importing a module declares its tools."""
READING = (content.get_content, content.get_outline, content.search_content, content.get_rules)
"""The tools of `--tools read`."""
EXAMPLES_VARIABLE = "MCP_INCLUDE_EXAMPLE_TOOLS"

INSTRUCTIONS = (
    "The team's guidelines and documents. Before you write code or text, read the guidelines for it: "
    "get_rules has the rules for a file, search_content finds the sections about something, "
    "get_content reads documents and sections. Follow the instruction in a result."
)


def build(settings: GuideSettings) -> App:
    """Build the server."""
    served = GuideSettings.of(settings)
    app = App(
        "guide",
        strict=True,
        version=VERSION,
        title="Guide",
        description=DESCRIPTION,
        instructions=INSTRUCTIONS,
        tools=[*(READING if served.tools == "read" else MODULES), *_example_tools()],
        prompts=[guide_prompt],
        resources=[DOCUMENTS],
        skills=SkillSource(
            lambda: skills_of(served.docs_root or STARTER_FOLDER),
            ["documents:read"],
            left_out=lambda: left_out(served.docs_root or STARTER_FOLDER),
        ),
        naming=Naming("snake"),
        format="result",
        prepare_examples=_prepare_examples,
        settings=settings,
    )
    app.provide(Guide, partial(_open_guide, settings))
    app.add_check("documents", lambda: asyncio.to_thread(app.provided(Guide).check_documents), needed=False)
    return app


def _example_tools() -> list[ModuleType]:
    """The example tool, imported only if the variable is exactly "true"."""
    if os.environ.get(EXAMPLES_VARIABLE) != "true":
        return []
    from mcp_guide.tools import tool_example  # noqa: PLC0415 - 2 ms; not even imported unless it is served

    return [tool_example]


def _open_guide(given: GuideSettings) -> Generator[Guide]:
    settings = GuideSettings.of(given)
    file = ConfigurationFile(settings.config or default_config_path())
    guide = Guide(file, ActiveProjects(settings.project), settings.docs_root, default_docs_root())
    try:
        yield guide
    finally:
        guide.close()


async def _prepare_examples(app: App) -> None:
    await asyncio.to_thread(install_example_data, app.provided(Guide))
