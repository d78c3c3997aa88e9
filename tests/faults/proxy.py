"""A line to a server that can be slowed down, cut and led elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

PIECE: Final = 65536


class Proxy:
    """A port of this machine behind which a server stands, by its unix socket or its port. For any thread."""

    def __init__(self, target: Path | int) -> None:
        self.target = target
        self.delay = 0.0
        """Seconds by which each piece of an answer comes later."""
        self.is_cut = False
        """Nothing passes, and nobody is told: as where a switch has failed."""
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server = asyncio.run_coroutine_threadsafe(
            self._listen(), self._begin()
        ).result()

    def _begin(self) -> asyncio.AbstractEventLoop:
        self._thread = Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        return self._loop

    async def _listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def lead_to(self, target: Path | int) -> None:
        """Lead new connections elsewhere, and end those that are there."""
        self.target = target
        self.drop()

    def drop(self) -> None:
        """Break all connections off."""
        self._call(self._drop)

    def cut(self) -> None:
        """Let nothing pass until `heal`."""
        self.is_cut = True

    def heal(self) -> None:
        """Let everything pass again. What was on its way in connections that were cut is lost."""
        self.drop()
        self.is_cut = False

    def close(self) -> None:
        """Listen no more."""
        self._call(self._close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Callable[[], Any]) -> None:
        async def run() -> None:
            made = work()
            if made is not None:
                await made

        asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def _drop(self) -> None:
        for end in list(self._ends):
            end.transport.abort()

    async def _close(self) -> None:
        self._server.close()
        self._drop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._ends.add(writer)
        try:
            await self._join(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # either side has gone
        finally:
            writer.transport.abort()
            self._ends.discard(writer)
            self._tasks.discard(task)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._until_open()
        target = self.target
        there = (
            await asyncio.open_connection("127.0.0.1", target)
            if isinstance(target, int)
            else await asyncio.open_unix_connection(str(target))
        )
        self._ends.add(there[1])
        pumps = [
            asyncio.ensure_future(self._pump(reader, there[1], slow=False)),
            asyncio.ensure_future(self._pump(there[0], writer, slow=True)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            there[1].transport.abort()
            self._ends.discard(there[1])

    async def _pump(self, source: asyncio.StreamReader, drain: asyncio.StreamWriter, *, slow: bool) -> None:
        with suppress(OSError):
            while piece := await source.read(PIECE):
                if slow and self.delay:
                    await asyncio.sleep(self.delay)
                await self._until_open()
                drain.write(piece)
                await drain.drain()

    async def _until_open(self) -> None:
        while self.is_cut:
            await asyncio.sleep(0.02)
