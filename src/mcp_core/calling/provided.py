"""Provided values by type, and functions that make one for the server or for each call."""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ContextDecorator,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, cast, get_args

from mcp_core.context import ToolContext
from mcp_core.declare.data_types import is_data
from mcp_core.declare.spec import source_of
from mcp_core.errors import DeclarationError

T = TypeVar("T")

Scope = Literal["server", "call"]
Entered = AbstractAsyncContextManager[T] | AsyncGenerator[T] | Generator[T]
Made = T | Entered[T] | Awaitable[T | AbstractAsyncContextManager[T]]
"""The results of a factory. A context manager is entered, and closed at the end of its scope."""


@dataclass(frozen=True, slots=True)
class Factory:
    """A function that makes a provided object, and what it takes by type itself."""

    make: Callable[..., Any]
    scope: Scope
    needs: Mapping[str, Any]
    context: str | None

    async def open(self, values: Mapping[Any, Any], stack: AsyncExitStack, context: ToolContext | None = None) -> Any:
        """Make the object. What must be closed is left to the stack."""
        keywords = {name: values[of] for name, of in self.needs.items()}
        if self.context is not None:
            keywords[self.context] = context
        made = self.make(**keywords)
        if inspect.isawaitable(made):
            made = await made
        made = await _enter(made, stack)
        if made is None:
            raise RuntimeError(f"the factory at {source_of(self.make)} made None; return or yield the object")
        return made


async def _enter(made: Any, stack: AsyncExitStack) -> Any:
    if inspect.isasyncgen(made):
        return await stack.enter_async_context(asynccontextmanager(lambda: cast(AsyncGenerator[Any], made))())
    if inspect.isgenerator(made):
        return stack.enter_context(contextmanager(lambda: cast(Generator[Any], made))())
    if isinstance(made, AbstractAsyncContextManager):
        return await stack.enter_async_context(cast(AbstractAsyncContextManager[Any], made))
    if isinstance(made, ContextDecorator):  # of a function with @contextmanager
        return stack.enter_context(cast(Any, made))
    return made


class Provided:
    """The objects of one app, by type. Those that functions make for the server exist while it is open."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self._made: dict[Any, Any] = {}
        self._factories: dict[Any, Factory] = {}
        self._is_open = False

    def add(self, of: Any, value: Any, scope: Scope = "server") -> None:
        """Add a value, or a function or class that makes one. Raises DeclarationError."""
        name = type_name(of)
        if isinstance(of, type) and is_data(of):
            fix = "provide an ordinary class that has it, because agents send data as arguments"
            raise DeclarationError([f"app.provide({name}, ...): {name} is data; {fix}"])
        if scope not in get_args(Scope):
            raise DeclarationError([f"app.provide({name}, ...): scope {scope!r} is not known; use server or call"])
        is_factory = inspect.isroutine(value) or isinstance(value, type | partial)
        if scope == "call" and not is_factory:
            raise DeclarationError([f"app.provide({name}, ...): {value!r} is not a function; give one for each call"])
        if is_factory and scope == "server" and self._is_open:
            raise DeclarationError([f"app.provide({name}, ...): the app is open; provide the object itself"])
        if is_factory:
            self._factories[of] = _factory(name, cast(Callable[..., Any], value), scope)
            self._values.pop(of, None)
        else:
            self._values[of] = value
            self._factories.pop(of, None)
            self._made.pop(of, None)

    def __contains__(self, of: Any) -> bool:
        return of in self._values or of in self._factories

    def is_per_call(self, of: Any) -> bool:
        """Return whether it is made for each call."""
        factory = self._factories.get(of)
        return factory is not None and factory.scope == "call"

    def __getitem__(self, of: Any) -> Any:
        """The object that all calls share."""
        for objects in (self._values, self._made):
            if of in objects:
                return objects[of]
        name = type_name(of)
        if of not in self._factories:
            raise LookupError(f"nothing provides {name}; call app.provide({name}, ...)")
        when = "for each call" if self.is_per_call(of) else "when the app opens"
        raise LookupError(f"{name} is made {when}; it does not exist yet")

    async def open(self, stack: AsyncExitStack) -> None:
        """Make what all calls share, each after what it takes itself. The stack closes it in reverse order."""
        self._check()
        self._is_open = True
        stack.callback(self._close)
        for of, factory in self._in_order(self._factories):
            if factory.scope == "server":
                self._made[of] = await factory.open({need: self[need] for need in factory.needs.values()}, stack)

    def _close(self) -> None:
        self._is_open = False
        self._made.clear()

    def for_call(self, kinds: Iterable[Any]) -> "CallFactories":
        """Prepare what is made for each call of a handler that takes these types."""
        per_call = [(of, one) for of, one in self._in_order(kinds) if one.scope == "call"]
        made = {of for of, _ in per_call}
        shared = {need: self[need] for _, one in per_call for need in one.needs.values() if need not in made}
        return CallFactories(per_call, shared)

    def _in_order(self, kinds: Iterable[Any]) -> Iterator[tuple[Any, Factory]]:
        """The factories of these types, each after those whose objects it takes."""
        done: set[Any] = set()

        def visit(of: Any) -> Iterator[tuple[Any, Factory]]:
            factory = self._factories.get(of)
            if factory is None or of in done:
                return
            done.add(of)
            for need in factory.needs.values():
                yield from visit(need)
            yield of, factory

        for of in kinds:
            yield from visit(of)

    def _check(self) -> None:
        """Raise DeclarationError for factories that cannot be called: of a cycle, or with something missing."""
        problems = [line for of, factory in self._factories.items() for line in self._problems(of, factory)]
        cycles = [path for of in self._factories if (path := self._cycle(of, (of,)))]
        if cycles:
            problems.append(f"app.provide: {' needs '.join(map(type_name, cycles[0]))}; remove one of these parameters")
        if problems:
            raise DeclarationError(problems)

    def _problems(self, of: Any, factory: Factory) -> Iterator[str]:
        place = f"app.provide({type_name(of)}, ...)"
        if factory.scope == "server" and factory.context is not None:
            yield f'{place}: {factory.context}: a ToolContext belongs to a call; write scope="call"'
        for name, need in factory.needs.items():
            if need not in self:
                yield f"{place}: {name}: nothing provides {type_name(need)}; call app.provide({type_name(need)}, ...)"
            elif factory.scope == "server" and self.is_per_call(need):
                yield f'{place}: {name}: {type_name(need)} is made for each call; write scope="call" here as well'

    def _cycle(self, of: Any, path: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The types from this one back to itself, if its factory takes itself by a detour."""
        factory = self._factories.get(of)
        for need in factory.needs.values() if factory else ():
            if need == path[0]:
                return (*path, need)
            if need not in path and (found := self._cycle(need, (*path, need))):
                return found
        return None


class CallFactories:
    """The values made for each call of one handler, in order, and the shared values that they need."""

    def __init__(self, factories: list[tuple[Any, Factory]], shared: Mapping[Any, Any]) -> None:
        self._factories, self._shared = factories, shared

    async def open(self, stack: AsyncExitStack, context: ToolContext) -> Mapping[Any, Any]:
        """Make the objects of a call, by type."""
        values = dict(self._shared)
        for of, factory in self._factories:
            values[of] = await factory.open(values, stack, context)
        return values


def _parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(make, eval_str=True).parameters
    except NameError:  # perhaps of a parameter that is not filled in, or of what is returned
        return inspect.signature(make).parameters


def _factory(name: str, make: Callable[..., Any], scope: Scope) -> Factory:
    place = f"app.provide({name}, ...)"
    try:
        parameters = _parameters(make)
    except ValueError:  # written in C, and without a signature
        return Factory(make, scope, {}, None)
    needs: dict[str, Any] = {}
    context: str | None = None
    for parameter in parameters.values():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        if parameter.annotation is parameter.empty or parameter.kind is parameter.POSITIONAL_ONLY:
            fix = "annotate it with the type to pass, or give it a default"
            raise DeclarationError([f"{place}: {parameter.name} has no type, or no name to pass it by; {fix}"])
        if isinstance(parameter.annotation, str):
            fix = "import the type outside of TYPE_CHECKING"
            raise DeclarationError([f"{place}: {parameter.name}: {parameter.annotation} cannot be resolved; {fix}"])
        if parameter.annotation is ToolContext:
            context = parameter.name
        else:
            needs[parameter.name] = parameter.annotation
    return Factory(make, scope, needs, context)


def type_name(of: Any) -> str:
    """The name of a type, as it is written in an annotation."""
    return getattr(of, "__name__", str(of)) if isinstance(of, type) else str(of)
