"""Runs the functions of prompts and resources through the pipeline. A failure is a protocol error, `Refused`."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.pipeline import Pipeline
from mcp_core.calling.records import Call, Permit, Request
from mcp_core.calling.stages.fail import fail, without_secrets
from mcp_core.calling.stages.observe import log_context, observe
from mcp_core.calling.stages.record import CallRecord, StackLimit, failure_level, log_system_failure
from mcp_core.errors import ElicitationUnsupported, Refused
from mcp_core.mcp_log import get_logger, reset_log_context, set_log_context
from mcp_core.registry import ToolRegistry
from mcp_core.result import Body, Failure

logger = get_logger(__name__)

T = TypeVar("T")


class LibraryCalls(NamedTuple):
    """Runs the functions of one server."""

    registry: ToolRegistry
    clock: Callable[[], float]
    pipeline: Pipeline
    stacks: StackLimit

    async def run(self, bound: BoundTool, request: Request, check: Callable[[Any], T]) -> T:
        """Run a function of a prompt or a resource. Raises Refused."""

        def check_alone(raw: Any, _permit: Permit, _bound: BoundTool) -> T:
            return check(raw)

        call, summary = observe(request, bound, None, self.clock()), CallRecord()
        summary.began, token = time.perf_counter(), set_log_context(log_context(call))
        logger.trace("Requested: %s", request.tool)
        try:
            with self.pipeline.recorder.shares.holding(request.caller.key):
                self.pipeline.check_share(call)
                return cast(T, await self.pipeline.carry_out(call, bound, summary, check_alone))
        except Refused as refused:
            failure = Failure(str(refused), cast(str, refused.data["errorType"]), refused.kind)
            raise self._refused(Body(failure=failure), call, refused, invoked=summary.invoked) from None
        except ElicitationUnsupported:
            raise  # the host reports it
        except Exception as error:  # noqa: BLE001 - every exception becomes an answer, as in the pipeline
            raise self._refused(fail(error, call, None), call, error, invoked=summary.invoked) from None
        finally:
            reset_log_context(token)

    def _refused(self, body: Body, call: Call, error: Exception, *, invoked: bool) -> Refused:
        """The protocol error. Details that it lacks are logged here."""
        body = body.rename_tools(self.registry.mentions.rename)
        failure = cast(Failure, without_secrets(body, cast(Failure, body.failure), call, invoked=invoked).failure)
        name = call.request.tool
        if failure.kind == "system":
            log_system_failure(name, error, failure, self.stacks)
        else:
            logger.log(failure_level(failure, invoked=invoked), "%s refused: %s", name, failure.error)
        data = {"errorType": failure.error_type} | ({"errorId": failure.error_id} if failure.error_id else {})
        return Refused(failure.error, failure.kind, data)
