"""Opens the record of recent calls that the settings choose."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from mcp_core.app import App
from mcp_core.mcp_log import get_logger
from mcp_core.process.install_command import install_command
from mcp_core.process.start_errors import CannotStart
from mcp_core.settings.model import Settings
from toolcharter.call_log.log import CallLog

logger = get_logger(__name__)

DEFAULT_SECONDS = 86_400.0
"""How long calls are kept where somebody can look at them."""


@asynccontextmanager
async def keep_calls(
    apps: Sequence[App], settings: Settings, default_seconds: float = 0.0
) -> AsyncGenerator[CallLog | None]:
    """Keep the calls of some open apps in one record, if the settings, or else the default, say so."""
    seconds = default_seconds if settings.calls_keep is None else settings.calls_keep
    if not seconds:
        yield None
        return
    from toolcharter.call_log.store import CallStore, RetentionLimits  # noqa: PLC0415 - 8 ms, with SQLite

    try:
        store = await CallStore.open(settings.db, RetentionLimits(seconds, settings.calls_size))
    except ModuleNotFoundError as error:
        if settings.calls_keep is None:
            logger.info("Recent calls are not kept: --db needs %s (%s)", error.name, install_command("sql"))
            yield None
            return
        raise CannotStart(f"--calls-keep with --db needs {error.name}: {install_command('sql')}") from None
    async with AsyncExitStack() as stack:
        log = CallLog(store)
        stack.push_async_callback(log.close)
        await log.open()
        apps[0].telemetry.add_source(log.samples)
        stack.callback(apps[0].telemetry.remove_source, log.samples)
        for app in apps:
            await stack.enter_async_context(log.record(app))
        yield log
