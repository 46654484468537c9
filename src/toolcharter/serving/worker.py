"""A worker's side of the channel to its supervisor."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from toolcharter.serving.control import Channel, WorkerPlace

METRICS_SECONDS = 3.0
"""How long the supervisor may take to collect the metrics of all workers."""


class WorkerLink:
    """Reports the state of this worker, and takes the commands of the supervisor."""

    def __init__(self, place: WorkerPlace, own_metrics: Callable[[], Awaitable[str]]) -> None:
        self._place, self._own_metrics = place, own_metrics
        self._channel: Channel | None = None
        self._reading: asyncio.Task[None] | None = None
        self._numbers = itertools.count(1)
        self._requests: dict[int, asyncio.Future[str]] = {}

    async def open(
        self, *, serve: Callable[[], object], retire: Callable[[], object], stop: Callable[[], object]
    ) -> None:
        """Report that this worker is open. `stop` is called if the supervisor is gone."""
        self._channel = await Channel.open(self._place.channel)
        self._reading = asyncio.ensure_future(self._read(self._channel, serve, retire, stop))
        self._channel.send(open=True)

    async def _read(
        self, channel: Channel, serve: Callable[[], object], retire: Callable[[], object], stop: Callable[[], object]
    ) -> None:
        async for message in channel.messages():
            if "serve" in message:
                serve()
            elif "retire" in message:
                retire()
            elif "alive" in message:
                channel.send(alive=True)
            elif "metrics" in message:
                channel.send(metrics=await self._own_metrics())
            elif "all" in message:
                self._take_metrics(message)
        stop()

    def _take_metrics(self, message: dict[str, Any]) -> None:
        request = self._requests.get(message["all"])
        if request is not None and not request.done():
            request.set_result(message["text"])

    async def all_metrics(self) -> str:
        """The metrics of all workers; those of this one if the supervisor does not answer."""
        if self._channel is None:
            return await self._own_metrics()
        number = next(self._numbers)
        request = self._requests[number] = asyncio.get_running_loop().create_future()
        self._channel.send(all=number)
        try:
            async with asyncio.timeout(METRICS_SECONDS):
                return await request
        except TimeoutError:
            return await self._own_metrics()
        finally:
            del self._requests[number]

    async def close(self) -> None:
        """Send the last figures, and close the channel."""
        if self._channel is not None and self._reading is not None:
            self._channel.send(metrics=await self._own_metrics())
            await self._channel.flush()
            self._reading.cancel()
            self._channel.close()
