"""The guide server, wired: its tools, its prompt, its resources, and where it keeps what it knows."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from types import ModuleType

from mcp_core import App, Naming, Settings
from mcp_guide.active_project import ActiveProject
from mcp_guide.configuration_file import ConfigurationFile, default_path
from mcp_guide.guide import Guide
from mcp_guide.prompts.guide import guide as guide_prompt
from mcp_guide.resources import DOCUMENTS
from mcp_guide.settings import GuideSettings, default_docs_root
from mcp_guide.tools import categories, client, collections, content, documents, export, flags, modes, projects

VERSION = "1.0.0"

MODULES = (content, documents, projects, categories, collections, flags, modes, export, client)
"""Importing a module declares its tools."""
EXAMPLES_VARIABLE = "MCP_INCLUDE_EXAMPLE_TOOLS"

INSTRUCTIONS = (
    "The team's guidelines and documents. Before you write code or text, read what is there about it: "
    "list_documents shows the documents, get_content reads them, search_content finds words in them. "
    "Follow the instruction of each answer: it says what may be done in the current mode."
)


def build(settings: Settings) -> App:
    """The server."""
    return App(
        "guide",
        version=VERSION,
        title="Guide",
        instructions=INSTRUCTIONS,
        tools=[*MODULES, *_example_tools()],
        prompts=[guide_prompt],
        resources=[DOCUMENTS],
        naming=Naming("snake"),
        format="result",
        lifespan=_keep_guide,
        prepare_examples=_prepare_examples,
        settings=settings,
    )


def _example_tools() -> list[ModuleType]:
    """Imported only when asked for, and only by exactly that word."""
    asked = os.environ.get(EXAMPLES_VARIABLE) == "true"
    return [import_module("mcp_guide.tools.tool_example")] if asked else []


@asynccontextmanager
async def _keep_guide(app: App) -> AsyncGenerator[None]:
    own = GuideSettings.of(app.settings)
    file = ConfigurationFile(own.config or default_path())
    guide = Guide(file, ActiveProject(own.project), own.docs_root, default_docs_root())
    app.provide(Guide, guide)
    try:
        yield
    finally:
        guide.close()


async def _prepare_examples(app: App) -> None:
    # Loaded for examples only.
    put = import_module("mcp_guide.example_data").put_in_place
    await asyncio.to_thread(put, app.provided(Guide))
