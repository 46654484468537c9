"""Tools, prompts and resources of an app that is mounted into another: under new names, with what their app provides.

They run in the pipeline of the app that they are mounted into, so a call passes each gate and is recorded once.
"""

import copy
from dataclasses import replace

from mcp_core.calling.provided import Provided
from mcp_core.declare.completion import Completer
from mcp_core.declare.naming import Naming
from mcp_core.declare.prompts import Prompt
from mcp_core.declare.resources import ResourceSource
from mcp_core.declare.spec import ToolSpec


class Mount:
    """Gives the parts of an app the names that they have in another one."""

    def __init__(self, prefix: str, naming: Naming, provided: Provided) -> None:
        self._prefix, self._naming, self._provided = prefix, naming, provided

    def name(self, own: str) -> str:
        """The name of a tool or a prompt."""
        return self._naming.to_style(f"{self._prefix}_{own}" if self._prefix else own)

    def tool(self, spec: ToolSpec) -> ToolSpec:
        """A tool under its new name. One that is deprecated names its replacement by the new name too."""
        declared, old = spec.declaration, spec.declaration.deprecated
        if old is not None:
            declared = replace(declared, deprecated=replace(old, replacement=self.name(old.replacement)))
        mounted = replace(spec, name=self.name(spec.name), declaration=declared, has_own_name=True)
        return replace(mounted, provided=spec.provided or self._provided)

    def prompt(self, prompt: Prompt) -> Prompt:
        """A prompt under its new name."""
        arguments = tuple(
            one._replace(completer=self._completer(one.completer) if one.completer else None)
            for one in prompt.arguments
        )
        spec = replace(prompt.spec, name=self.name(prompt.name), provided=prompt.spec.provided or self._provided)
        return prompt._replace(name=spec.name, arguments=arguments, spec=spec)

    def source(self, source: ResourceSource) -> ResourceSource:
        """Resources under the same addresses."""
        mounted = copy.copy(source)
        for name in ("reader", "lister"):
            if (spec := getattr(source, name)) is not None:
                object.__setattr__(mounted, name, replace(spec, provided=spec.provided or self._provided))
        completers = {place: self._completer(one) for place, one in source.completers.items()}
        object.__setattr__(mounted, "completers", completers)
        return mounted

    def _completer(self, completer: Completer) -> Completer:
        spec = completer.spec
        if spec is None:
            return completer
        name = f"{self._prefix} {spec.name}"
        return replace(completer, spec=replace(spec, name=name, provided=spec.provided or self._provided))
