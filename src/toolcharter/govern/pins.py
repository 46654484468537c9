"""Pins: the definitions that a person has approved. What an upstream shows otherwise is not shown to agents."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from mcp_core.declare.listed import ListedTool
from mcp_core.mcp_log import is_secret_name
from mcp_core.process.start_errors import CannotStart
from toolcharter.contract.changes import Change
from toolcharter.contract.lock import InvalidLock, Lock, digest, parse_lock
from toolcharter.contract.tool_diff import diff_tools
from toolcharter.govern.charter import PinPolicy
from toolcharter.govern.metadata import APP_LINKS
from toolcharter.verify.engine import run_rules, server_from_tools
from toolcharter.verify.rule import Finding
from toolcharter.verify.rules import static_rules

_WORDING = frozenset({"description-changed", "title-changed", "parameter-description-changed", "note-changed"})
_METADATA = frozenset({"version-changed", "hint-stated", "meta-changed"})
"""Changes that no agent sees."""
_APP_LINKS = tuple(f'$._meta["{key}"]' for key in APP_LINKS)
_HINTS = "-hint-"
ONLY_SPACE = "only white space"


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Why a tool is not served."""

    reason: str
    """A sentence for the agent and the person, such as `its description changed`."""
    changes: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
    added: ListedTool | None = None
    """The whole definition of a tool that was not there before."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of what an upstream shows with what was approved."""

    approved: Mapping[str, ListedTool] = field(default_factory=dict[str, ListedTool])
    """The tools that are served, with the definitions that agents see."""
    quarantined: Mapping[str, Quarantine] = field(default_factory=dict[str, Quarantine])
    missing: frozenset[str] = frozenset()
    """Approved tools that the upstream no longer lists."""
    accepted: Mapping[str, ListedTool] = field(default_factory=dict[str, ListedTool])
    """Tools whose new definition is harmless, and replaces the old one."""


def compare(
    approved: Mapping[str, ListedTool],
    shown: Sequence[ListedTool],
    policy: PinPolicy,
    names_of_others: Collection[str] = (),
) -> Comparison:
    """Decide for each tool that an upstream shows. `names_of_others` are the tools of the other upstreams."""
    counts = Counter(tool.name for tool in shown)
    twice = {name for name, number in counts.items() if number > 1}
    live = {tool.name: tool for tool in shown}
    changed = [tool for name, tool in live.items() if name not in approved or not _is_same(tool, approved[name])]
    findings = security_findings(changed)
    renamed = _renamed(approved, live)
    others = {_skeleton(name) for name in names_of_others}
    quarantined: dict[str, Quarantine] = {}
    accepted: dict[str, ListedTool] = {}
    for tool in changed:
        name = tool.name
        verdict = (
            _changed(approved[name], tool, findings.get(name, ()), policy)
            if name in approved
            else _added(tool, findings.get(name, ()), policy, others, renamed.get(name))
        )
        if verdict is None:
            accepted[name] = tool
        else:
            quarantined[name] = verdict
    for name in twice:
        quarantined[name] = Quarantine("the server lists two tools of this name")
        accepted.pop(name, None)
    served = {name: tool for name, tool in approved.items() if name in live and name not in quarantined}
    return Comparison(served | accepted, quarantined, frozenset(approved.keys() - live.keys()), accepted)


def compare_one_of_many(
    approved: Mapping[str, ListedTool],
    shown: Sequence[ListedTool],
    policy: PinPolicy,
    names_of_others: Collection[str],
    before: Comparison,
) -> Comparison:
    """The same for an upstream that may show each caller something else, with what others were shown before.

    A tool that this caller is not shown is not gone, and one that somebody was shown otherwise stays quarantined.
    """
    names = {tool.name for tool in shown}
    hidden = [tool for name, tool in approved.items() if name not in names]
    found = compare(approved, [*shown, *hidden], policy, names_of_others)
    quarantined = {**before.quarantined, **found.quarantined}
    served = {name: tool for name, tool in found.approved.items() if name not in quarantined}
    return replace(found, approved=served, quarantined=quarantined)


def security_findings(tools: Sequence[ListedTool]) -> dict[str, tuple[Finding, ...]]:
    """The findings of the security rules of `verify` in these tools, errors and warnings, by tool."""
    if not tools:
        return {}
    rules = [rule for rule in static_rules() if rule.family == "security" and rule.severity != "note"]
    found: dict[str, tuple[Finding, ...]] = {}
    for finding in run_rules(server_from_tools(tools), rules):
        if finding.tool is not None:
            found[finding.tool] = (*found.get(finding.tool, ()), finding)
    return found


def _is_same(one: ListedTool, other: ListedTool) -> bool:
    try:
        return digest(one) == digest(other)
    except RecursionError:
        return False


def _changed(old: ListedTool, new: ListedTool, findings: Sequence[Finding], policy: PinPolicy) -> Quarantine | None:
    try:
        changes = tuple(diff_tools([old], [new], datetime.now(UTC).date()))
    except RecursionError:
        return Quarantine("its new schema is nested too deeply")
    known = {(one.rule, one.message) for one in security_findings([old]).get(old.name, ())}
    fresh = tuple(one for one in findings if (one.rule, one.message) not in known)
    if fresh:
        return Quarantine(f"its new definition is suspicious: {fresh[0].rule} {fresh[0].message}", changes, fresh)
    if serious := [change for change in changes if not is_harmless(change, policy)]:
        return Quarantine(_reason(serious), changes)
    return None if policy.harmless == "accept" else Quarantine(_reason(changes), changes)


def is_harmless(change: Change, policy: PinPolicy) -> bool:
    """Whether a change by itself can neither break a caller nor mislead an agent."""
    if change.kind in _METADATA:
        return change.path not in _APP_LINKS
    if change.kind in _WORDING:
        return policy.wording == "accept" or change.sentence.endswith(ONLY_SPACE)
    if change.kind == "parameter-added" and is_secret_name(change.path.rpartition(".")[2]):
        return False
    return change.effect == "additive" and _HINTS not in change.kind


def _added(
    tool: ListedTool, findings: Sequence[Finding], policy: PinPolicy, others: Collection[str], old_name: str | None
) -> Quarantine | None:
    if findings:
        problem = f"it is new and suspicious: {findings[0].rule} {findings[0].message}"
        return Quarantine(problem, findings=tuple(findings), added=tool)
    if _skeleton(tool.name) in others:
        return Quarantine("it is new and has the name of another server's tool", added=tool)
    if old_name is not None:
        return Quarantine(f"it was called {old_name!r} before", added=tool)
    return None if policy.new_tools == "accept" else Quarantine("it is new", added=tool)


def _reason(changes: Sequence[Change]) -> str:
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f"its definition changed ({changes[0].kind.replace('-', ' ')}{more})" if changes else "it changed"


def _renamed(old: Mapping[str, ListedTool], new: Mapping[str, ListedTool]) -> dict[str, str]:
    """The old names of tools that have only another name now, by the new name."""
    bodies = {digest(replace(tool, name="")): name for name, tool in old.items() if name not in new}
    return {
        name: bodies[body]
        for name, tool in new.items()
        if name not in old and (body := digest(replace(tool, name=""))) in bodies
    }


def _skeleton(name: str) -> str:
    """A name without case and separators. Letters that look alike are found by a security rule."""
    return "".join(character for character in name.casefold() if character.isalnum())


# --- files -------------------------------------------------------------------------------------------------


def lock_file(charter: Path, upstream: str) -> Path:
    """The file with what was approved of an upstream, beside the charter."""
    return charter.parent / "charter-locks" / f"{upstream}.json"


def read_pins(file: Path) -> Lock | None:
    """The approved definitions; None without any. Raises CannotStart for a file that was edited."""
    try:
        return parse_lock(json.loads(file.read_text(encoding="utf-8")), str(file))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, InvalidLock) as error:
        raise CannotStart(f"{error} Approve the server again: toolcharter govern approve {file.stem}.") from None


def modified_at(file: Path) -> int | None:
    """When a file was written; None if it does not exist."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def write_pins(file: Path, lock: Lock) -> None:
    """Write what is approved. The old file stays until the new one is complete."""
    _replace(file, lock.to_text())


def read_capabilities(charter: Path, upstream: str) -> frozenset[str] | None:
    """The last known capabilities of a server, such as prompts; None if it has never answered."""
    try:
        return frozenset(map(str, json.loads(_capabilities_file(charter, upstream).read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):
        return None


def write_capabilities(charter: Path, upstream: str, capabilities: frozenset[str]) -> None:
    """Remember what a server offers."""
    _replace(_capabilities_file(charter, upstream), json.dumps(sorted(capabilities)) + "\n")


def remove_files(charter: Path, upstream: str) -> None:
    """Forget what was approved of a server, and what it offers."""
    for file in (lock_file(charter, upstream), _capabilities_file(charter, upstream)):
        file.unlink(missing_ok=True)


def _capabilities_file(charter: Path, upstream: str) -> Path:
    return lock_file(charter, upstream).with_suffix(".offers.json")


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)
