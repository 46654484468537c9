"""The policy file: roles with their permissions, and who has which role."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from mcp_core.auth.caller import Caller, is_in
from mcp_core.auth.permissions import Principal
from mcp_core.files.toml_file import TomlFile, read_toml
from mcp_core.mcp_log import get_logger
from mcp_core.process.start_errors import InvalidSetting

logger = get_logger(__name__)

_PATTERN = re.compile(r"\*|[^\s:*]+:(?:\*|[^\s*]+)")


def _check_pattern(pattern: str) -> str:
    if not _PATTERN.fullmatch(pattern):
        raise ValueError(f"{pattern!r} is not a permission; write cards:read, cards:* or *")
    return pattern


_Pattern = Annotated[str, AfterValidator(_check_pattern)]
_Name = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Role(_Strict):
    """A role: the permissions that it grants, and those that it denies whatever other roles grant."""

    allow: list[_Pattern] = []
    deny: list[_Pattern] = []


class Members(_Strict):
    """Who has a role: those who match every condition that is given. In a list, one match is enough."""

    role: str
    everyone: bool = False
    users: list[_Name] = []
    groups: list[_Name] = []
    scopes: list[_Name] = []
    claims: dict[str, Any] = {}

    def include(self, principal: Principal, groups: Collection[str]) -> bool:
        """Whether a principal is one of them."""
        return (
            (not self.users or principal.user in self.users)
            and (not self.groups or any(group in self.groups for group in groups))
            and (not self.scopes or any(scope in self.scopes for scope in principal.scopes or ()))
            and all(_claim_matches(_claim(principal.claims, name), value) for name, value in self.claims.items())
        )

    @property
    def by_scope_alone(self) -> bool:
        """Whether having a scope is enough."""
        return bool(self.scopes) and not (self.users or self.groups or self.claims)


class Policy(_Strict):
    """The content of a policy file."""

    user_claim: _Name = "sub"
    groups_claim: _Name = "groups"
    roles: dict[str, Role]
    members: list[Members] = []

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that give a role."""
        return tuple(dict.fromkeys(scope for members in self.members for scope in members.scopes))

    def caller(self, principal: Principal) -> Caller:
        """The caller with the permissions of all their roles, without what one of these denies."""
        groups = _texts(_claim(principal.claims, self.groups_claim))
        roles = [self.roles[members.role] for members in self.members if members.include(principal, groups)]
        return Caller(
            f"user:{principal.user}",
            principal.user,
            grants=principal.grants.union(*(role.allow for role in roles)),
            denied=frozenset[str]().union(*(role.deny for role in roles)),
            scopes=principal.scopes,
        )

    def scopes_for(self, missing: Sequence[str]) -> tuple[str, ...]:
        """One scope for each permission; none where a permission cannot be had by a scope alone."""
        scopes = [self._scope_for(permission) for permission in missing]
        return tuple(dict.fromkeys(scope for scope in scopes if scope)) if all(scopes) else ()

    def _scope_for(self, permission: str) -> str | None:
        for members in self.members:
            role = self.roles[members.role]
            if members.by_scope_alone and is_in(permission, role.allow) and not is_in(permission, role.deny):
                return members.scopes[0]
        return None


def read_policy(path: Path) -> Policy:
    """Read a policy file. Raises InvalidSetting with the line and the key of each problem."""
    file = read_toml(path)
    try:
        policy = Policy.model_validate(file.content)
    except ValidationError as error:
        problems = [(tuple(one["loc"]), _problem_text(one)) for one in error.errors()]
        raise _invalid(file, problems) from None
    problems = [problem for at, members in enumerate(policy.members) for problem in _problems(policy, at, members)]
    if problems:
        raise _invalid(file, problems)
    return policy


_Problem = tuple[tuple[str | int, ...], str]


def _problems(policy: Policy, at: int, members: Members) -> list[_Problem]:
    problems: list[_Problem] = []
    if members.role not in policy.roles:
        known = ", ".join(policy.roles) or "none"
        problems.append((("members", at, "role"), f"no role {members.role!r} exists. Roles: {known}"))
    conditional = bool(members.users or members.groups or members.scopes or members.claims)
    if members.everyone and conditional:
        problems.append((("members", at, "everyone"), "everyone has the role, so that no other condition can be given"))
    if not members.everyone and not conditional:
        advice = "nobody is named. Give users, groups, scopes or claims, or everyone = true"
        problems.append((("members", at), advice))
    return problems


def _invalid(file: TomlFile, problems: Sequence[_Problem]) -> InvalidSetting:
    return InvalidSetting("\n".join(str(file.error(where, f"{problem}.")) for where, problem in problems))


def _problem_text(error: Any) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "this key does not exist"
        case "missing":
            return "this key is required"
        case "value_error":
            return str(error["ctx"]["error"])
        case _:
            return f"{error['msg'][0].lower()}{error['msg'][1:]}, got {error['input']!r}"


class PolicyFile:
    """The policy that a file has now. A file that becomes invalid changes nothing."""

    def __init__(self, path: Path) -> None:
        self._path, self._policy = path, read_policy(path)

    @property
    def scopes(self) -> tuple[str, ...]:
        return self._policy.scopes

    @property
    def user_claim(self) -> str:
        return self._policy.user_claim

    def caller(self, principal: Principal) -> Caller:
        return self._policy.caller(principal)

    def scopes_for(self, missing: Sequence[str]) -> tuple[str, ...]:
        return self._policy.scopes_for(missing)

    def reload(self) -> None:
        """Read the file again."""
        try:
            self._policy = read_policy(self._path)
        except InvalidSetting as error:
            logger.error("The policy was not changed. %s", error)
        else:
            logger.info("The policy was read again from %s", self._path)


# --- claims ----------------------------------------------------------------------------------------------------


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of this name, or at this path: `realm_access.roles`."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = cast(Mapping[str, Any], value).get(part) if isinstance(value, Mapping) else None
    return value


def _texts(value: Any) -> tuple[str, ...]:
    values = cast(list[Any], value) if isinstance(value, list) else [value]
    return tuple(text for text in values if isinstance(text, str))


def _claim_matches(claim: Any, expected: Any) -> bool:
    """Whether a claim is the expected value or one of them, or a list that has one of them."""
    values = cast(list[Any], claim) if isinstance(claim, list) else [claim]
    wanted = cast(list[Any], expected) if isinstance(expected, list) else [expected]
    # In Python 1 equals True, and a claim is not a number where a policy says true.
    return any(type(value) is type(want) and value == want for value in values for want in wanted)
