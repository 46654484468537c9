"""The app with the tools of all servers. If their list would cost too much, agents search for tools instead."""

import asyncio
import functools
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Answer, Question, Request
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.spec import Confirm, Declaration, Example, ToolSpec, spec_of
from mcp_core.errors import NotFound
from mcp_core.tasks.record import TaskRecord
from toolcharter.govern.search.analysis import SearchedTool
from toolcharter.govern.search.learning import Learning
from toolcharter.govern.search.search_file import SearchFile
from toolcharter.govern.search.tool_index import ToolIndex
from toolcharter.verify.model import Tool

if TYPE_CHECKING:
    from toolcharter.evaluate.word_vectors import WordVectors

SEARCH, CALL = "search_tools", "call_tool"
_MAX_FOUND = 20

_caller: ContextVar[Caller] = ContextVar("caller")


class SearchApp(App):
    """Lists `search_tools` and `call_tool` where the whole list would exceed the budget."""

    def __init__(
        self, name: str, *, list_budget: int, file: SearchFile | None = None, learns: bool = True, **options: Any
    ) -> None:
        """`list_budget` is in tokens. If it `learns`, tools are ranked by the words for which they were used, too."""
        super().__init__(name, **options)
        self._budget, self._file = list_budget, file
        self._searched: Sequence[SearchedTool] = ()
        self._index: ToolIndex | None = None
        self._building = asyncio.Lock()
        self._learning = Learning(file) if learns else None
        self.is_searched = False

    def replace_governed(self, tools: Sequence[tuple[str, ToolSpec]], always_listed: Iterable[str]) -> None:
        """Serve these tools, each with the name of its server."""
        specs = [spec for _, spec in tools]
        listed = [(server, spec) for server, spec in tools if spec.is_listed and spec.listed is not None]
        self.is_searched = sum(map(cost, (spec for _, spec in listed))) > self._budget
        if self.is_searched:
            pinned = set(always_listed)
            specs = [spec if spec.name in pinned else replace(spec, is_listed=False) for spec in specs]
            specs = [*self._search_tools(), *specs]
            self._searched = [
                SearchedTool(server, cast(ListedTool, spec.listed).name, _listed(spec)) for server, spec in listed
            ]
            self._index = None
        self.replace_tools(specs)

    async def answer(self, request: Request) -> Answer | Question | TaskRecord:
        """Answer one call. What `call_tool` calls passes all its gates under its own name."""
        if not self.is_searched:
            return await super().answer(request)
        if request.tool == CALL:
            name: Any = request.arguments.get("name")
            given: Any = request.arguments.get("arguments")
            arguments = cast(Any, {}) if given is None else given
            if isinstance(name, str) and isinstance(arguments, dict) and self.registry.find(name) is not None:
                request = request._replace(tool=name, arguments=arguments)
        if request.tool == SEARCH:
            token = _caller.set(request.caller)
            try:
                return await super().answer(request)
            finally:
                _caller.reset(token)
        answer = await super().answer(request)
        if self._learning is not None and isinstance(answer, Answer) and not answer.is_error:
            self._learning.called(request.caller.key, request.tool)
        return answer

    async def _ready_index(self) -> ToolIndex:
        """The index, made with the first search after a change, beside other calls."""
        async with self._building:
            while self._index is None:
                tools = self._searched
                index = await asyncio.to_thread(_build, tools, self._file)
                if tools is self._searched:
                    self._index = index
            if self._learning is not None:
                self._learning.teach(self._index)
            return self._index

    def _search_tools(self) -> list[ToolSpec]:
        async def search_tools(
            query: Annotated[
                str, Field(description="What you want to do, one step on each line.", min_length=1, max_length=2000)
            ],
            limit: Annotated[
                int, Field(description="How many tools to return: about three for each step.", ge=1, le=_MAX_FOUND)
            ] = 5,
        ) -> list[dict[str, Any]]:
            """Find tools by what you want to do. Use this first: most tools are not listed.

            For a task, write the steps that it takes, each on a line of its own: "read a web page", "write a file".
            Returns the tools that match each step best, each with its name, description and input schema.
            """
            caller, index = _caller.get(), await self._ready_index()
            found = list(islice((one for one in index.search(query) if self._may_use(caller, one.tool.name)), limit))
            if self._learning is not None:
                self._learning.searched(caller.key, index.known_words(query), found)
            return [one.tool.for_model() for one in found]

        async def call_tool(
            name: Annotated[str, Field(description="The name of the tool, as search_tools returned it.")],
            arguments: Annotated[  # noqa: ARG001 - `run` has read them, and found no tool for them
                dict[str, Any] | None, Field(description="Its arguments, as its input schema asks.")
            ] = None,
        ) -> Any:
            """Call a tool that search_tools has found. Returns what the tool answers."""
            raise NotFound(
                f"No tool has the name {name[:128]!r}. Find one with {SEARCH}.",
                instruction=f"Find the tool with {SEARCH}, and call it by the name that you get.",
            )

        async def no_question() -> None:
            """The tool that is called asks its own question."""

        searching = Declaration(
            permissions=(),
            category="query",
            response_time="medium",
            idempotent=True,
            examples=(Example("Find a way to read a file", {"query": "read a file"}, []),),
            tags=("tools",),
            open_world=False,
        )
        calling = replace(
            searching,
            category="mutation",
            response_time="slow",
            idempotent=False,
            examples=(Example("Call a tool that was found", {"name": "files_read", "arguments": {"path": "a"}}, {}),),
            # Hosts must be ready to ask the person for the tool that is called.
            confirm=Confirm(ask=True, target=no_question),
            destructive=False,
            open_world=True,
        )
        return [spec_of(search_tools, searching), spec_of(call_tool, calling)]

    def _may_use(self, caller: Caller, name: str) -> bool:
        spec = self.registry.find(name)
        return spec is not None and not caller.lacks(spec.permissions)


def _build(tools: Sequence[SearchedTool], file: SearchFile | None) -> ToolIndex:
    return ToolIndex(tools, _load_vectors(), file)


@functools.cache
def _load_vectors() -> "WordVectors | None":
    """The vectors for meanings; None without the extra."""
    try:
        from toolcharter.evaluate.word_vectors import WordVectors  # noqa: PLC0415 - numpy and tokenizers, 100 ms

        return WordVectors()
    except ImportError:
        return None


def cost(spec: ToolSpec) -> int:
    """About how many tokens a tool costs in a list, as `verify` counts them."""
    return Tool(_listed(spec)).tokens


def _listed(spec: ToolSpec) -> ListedTool:
    """The tool as it is listed here, under the name that it has here."""
    return replace(cast(ListedTool, spec.listed), name=spec.name)
