"""`Target`: listens, and serves a device."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from flashtrain.host import Device
from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.subsystem.subsystem import Subsystem

from .fabrics import Fabrics
from .framing import Framing
from .queue import Queue
from .settings import Settings

_LONGEST_WAIT_SECONDS = 1.0


class Target:
    """An NVMe/TCP target in front of a device; use it in `async with`.

    The device belongs to the target's thread from the start to the end, and is shut down by its owner.
    """

    def __init__(
        self, device: Device, settings: Settings, say: Callable[[str], None] = lambda line: None
    ) -> None:
        def note(line: str) -> None:
            with suppress(OSError):  # the limits hold without anybody who reads the log
                say(line)

        self.settings = settings
        self.subsystem = Subsystem(device, settings, note)
        self._fabrics = Fabrics(self.subsystem, settings)
        self._server: asyncio.Server | None = None
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Target":
        loop = asyncio.get_running_loop()
        s = self.settings
        try:
            self._server = await loop.create_server(self._accept, s.address, s.port, backlog=1024)
        except (OSError, UnicodeError) as error:
            raise ServeError(f"{s.address}:{s.port}: {getattr(error, 'strerror', None) or error}") from None
        self.subsystem.thread.start(loop)
        self._watch = loop.create_task(self._pass_time())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None and self._watch is not None
        self._watch.cancel()
        self._server.close()
        self.end_connections()
        await self._server.wait_closed()
        self.subsystem.notices.end_window()
        await asyncio.sleep(0)
        self.subsystem.thread.stop()

    @property
    def port(self) -> int:
        """The port on which the target listens."""
        assert self._server is not None
        return self._server.sockets[0].getsockname()[1]

    @property
    def connections(self) -> int:
        return len(self._fabrics.open)

    def end_connections(self) -> None:
        """End all connections at once, as a loss of power does."""
        for controller in list(self.subsystem.controllers.values()):
            controller.end()
        for queue in list(self._fabrics.open):
            queue.abort_connection()  # a host that reads nothing would keep it open

    async def lose_power(self) -> None:
        """Cut the device's power: all connections end, and the device recovers before others begin."""
        self.end_connections()
        self.subsystem.traffic.power_losses += 1
        await asyncio.wrap_future(self.subsystem.thread.lose_power())

    async def _pass_time(self) -> None:
        """End connections that are overdue, and count lines of the log, several times a second or less."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(self.settings.stalled_seconds / 4, _LONGEST_WAIT_SECONDS))
            self._fabrics.end_overdue(loop.time())
            self.subsystem.notices.pass_time(loop.time())

    def _accept(self) -> Framing:
        return Queue(self.subsystem, self._fabrics).framing
