"""Errors that handlers and gates raise.

    ToolError                      error_type         a call that failed for a known reason  kind
    ├── InvalidArguments           ValidationError    the input is wrong                     validation
    ├── NotFound                   NotFoundError      it does not exist                      business
    ├── Conflict                   ConflictError      a domain rule forbids it               business
    ├── PermissionDenied           PermissionError    a permission is missing                business
    ├── SignInRequired             SignInError        the person must sign in first          business
    ├── ConsentRequired            ConsentError       the person has not agreed              business
    │   ├── Declined               ConsentError       the person was asked, and declined      business
    │   ├── ForgedReply            ConsentError       a protocol error, not a result         business
    │   ├── ElicitationUnsupported ConsentError       a protocol error, not a result         business
    │   └── UrlElicitationRequired ConsentError       a protocol error, not a result         business
    ├── TasksUnsupported           ToolError          a protocol error, not a result         business
    ├── InvalidAnswer              AnswerError        the person's answers are not valid     business
    ├── RateLimited                RateLimitError     too many calls                         business
    ├── IdempotencyConflict        IdempotencyError   its key was used for another call      business
    ├── InProgress                 InProgressError    a call with the same key is running    system
    ├── OutcomeUnknown             OutcomeError       it may have been carried out or not    system
    ├── DeadlineExceeded           DeadlineError      it took too long                       system
    ├── ServerStopping             StoppingError      the server stops before it ends        system
    └── Unavailable                UnavailableError   something it needs cannot be reached   system
        └── Busy                   BusyError          refused for now; try again shortly     system
    UnknownTool                    no tool of that name: a protocol error, not a result
    Refused                        a prompt or a resource that is refused: a protocol error as well
    BrokenResult                   a handler's value does not match its tool's declaration: raised in the pipeline only
    DeclarationError               a declaration is not valid: raised at import or registration

Only the pipeline turns a `ToolError` into a result. Any other exception of a handler becomes a
`SystemError` with an id; the log has the stack, the answer does not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from mcp_core import instructions
from mcp_core.hints import AgentHints
from mcp_core.process.start_errors import DeclarationError as DeclarationError  # noqa: PLC0414 - one of the errors here

ErrorKind = Literal["validation", "business", "system"]


class ToolError(Exception):
    """A call that failed for a known reason. `str(error)` is the message for the agent."""

    error_type: ClassVar[str] = "ToolError"
    kind: ClassVar[ErrorKind] = "business"
    default_instruction: ClassVar[str] = instructions.PRESENT_ERROR

    def __init__(
        self,
        error: str,
        *,
        message: str | None = None,
        instruction: str | None = None,
        hints: AgentHints | None = None,
    ) -> None:
        """`message` is for the person, `instruction` and `hints` for the agent; all have sensible defaults."""
        super().__init__(error)
        self.message = message
        self.instruction = instruction or self.default_instruction
        self.hints = hints


class InvalidArguments(ToolError):
    """The arguments are wrong; the agent can correct them."""

    error_type = "ValidationError"
    kind = "validation"
    default_instruction = instructions.correct_and_call_again("the arguments named in the error")

    def __init__(
        self,
        error: str,
        *,
        fields: Sequence[str] = (),
        alternatives: bool = False,
        lacks_consent: bool = False,
        **channels: Any,
    ) -> None:
        """`fields` are the arguments to correct; of `alternatives`, only one can be given.

        `lacks_consent`: the literal that states the user's request is missing or wrong.
        """
        super().__init__(error, **channels)
        self.fields, self.alternatives, self.lacks_consent = tuple(fields), alternatives, lacks_consent


class NotFound(ToolError):
    """The requested item does not exist. The message names where existing ones are listed."""

    error_type = "NotFoundError"
    default_instruction = (
        f"{instructions.consider('the next step that the error names')} If it names none, present it to the user."
    )


class Conflict(ToolError):
    """A rule of the domain forbids it in the current state."""

    error_type = "ConflictError"


class PermissionDenied(ToolError):
    """The caller lacks a permission."""

    error_type = "PermissionError"
    default_instruction = f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"


class SignInRequired(ToolError):
    """The person must sign in somewhere before the call can be carried out."""

    error_type = "SignInError"
    default_instruction = (
        "Show the user exactly how to sign in, and wait until they have done so. "
        "Do not ask for a password or a token in the conversation."
    )

    def __init__(self, error: str, *, address: str | None = None, **channels: Any) -> None:
        """`address` is what the person opens in a browser; None where a command helps."""
        super().__init__(error, **channels)
        self.address = address


class ConsentRequired(ToolError):
    """The person has not agreed to exactly this action."""

    error_type = "ConsentError"
    default_instruction = instructions.REQUIRE_CONSENT
    answered_by: str | None = None
    """Who declined in the console."""


class Declined(ConsentRequired):
    """The person was asked what a handler needs to know, and declined or closed the question."""

    def __init__(self, error: str, *, action: str, **channels: Any) -> None:
        """`action` is decline or cancel."""
        super().__init__(error, **channels)
        self.action = action


class ForgedReply(ConsentRequired):
    """A reply has a seal that this server did not make. It is recorded as refused; the host reports it."""


class ElicitationUnsupported(ConsentRequired):
    """The person must be asked, and the client has not declared that it can ask them. Reported likewise."""

    def __init__(self, error: str, *, mode: str = "form", **channels: Any) -> None:
        """`mode` is the capability that is missing."""
        super().__init__(error, **channels)
        self.mode = mode


class TasksUnsupported(ToolError):
    """The tool always runs as a task, and the client has not declared that it follows tasks. Reported likewise."""


class UrlElicitationRequired(ElicitationUnsupported):
    """The person must open addresses before the call is made again, which a client of sessions does by itself."""

    def __init__(self, error: str, elicitations: Sequence[Mapping[str, Any]], **channels: Any) -> None:
        """`elicitations` are the parameters of `elicitation/create` for each address."""
        super().__init__(error, mode="url", **channels)
        self.elicitations = [dict(one) for one in elicitations]


class InvalidAnswer(ToolError):
    """The person filled in a form several times, and not as it asks."""

    error_type = "AnswerError"


class RateLimited(ToolError):
    """The caller has used up their calls for now."""

    error_type = "RateLimitError"

    def __init__(self, error: str, *, retry_after: float) -> None:
        super().__init__(error, instruction=f"Wait {retry_after:.0f} seconds before calling this tool again.")
        self.retry_after = retry_after


class IdempotencyConflict(ToolError):
    """The idempotency key of the call was used before, for another tool or other arguments."""

    error_type = "IdempotencyError"


class InProgress(ToolError):
    """Another call with the same idempotency key is being carried out. This one did nothing."""

    error_type = "InProgressError"
    kind = "system"
    default_instruction = "Wait a moment, then call this tool again with the same idempotency key and arguments."


class OutcomeUnknown(ToolError):
    """An earlier call may have been carried out or not."""

    error_type = "OutcomeError"
    kind = "system"
    default_instruction = f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"


class DeadlineExceeded(ToolError):
    """The handler took longer than its response time allows. It was cancelled, or still runs in its thread."""

    error_type = "DeadlineError"
    kind = "system"


class ServerStopping(ToolError):
    """The server stopped before the handler ended, and the handler was cancelled."""

    error_type = "StoppingError"
    kind = "system"


class Unavailable(ToolError):
    """Something that this call needs, such as a database, cannot be reached."""

    error_type = "UnavailableError"
    kind = "system"


class Busy(Unavailable):
    """The server is at one of its limits. Nothing was done, and the same call may succeed shortly."""

    error_type = "BusyError"
    default_instruction = "Nothing was done. Wait a few seconds, then call this tool again."


class UnknownTool(Exception):
    """The server has no tool of that name."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = f" Did you mean {' or '.join(repr(n) for n in nearest)}?" if nearest else " tools/list shows all."
        super().__init__(f"Unknown tool: {name[:128]!r}.{hint}")
        self.nearest = tuple(nearest)


class Refused(Exception):
    """A prompt or a resource that is refused. The message and the data are for the client."""

    def __init__(self, error: str, kind: ErrorKind, data: Mapping[str, Any]) -> None:
        super().__init__(error)
        self.kind: ErrorKind = kind
        self.data = dict(data)


class BrokenResult(Exception):
    """A handler returned a value that does not match its declaration. The message is for the log."""
