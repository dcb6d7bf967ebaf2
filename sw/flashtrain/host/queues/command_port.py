"""`CommandPort`: single commands of the contract, many at once, for a program that is no user of arrays."""

from collections.abc import Iterable

from numpy.typing import NDArray

from flashtrain.host.memory.tensor_buffer import Region
from flashtrain.spec import Port

from .dispatcher import Dispatcher, Request, serialised
from .entries import Command


class CommandPort:
    """Commands that one port submits as they are. Their data lie in regions of the tensor buffer.

    The handles of the driver's streams know nothing of such appends; resets belong to
    `DeviceStream.reset_zone`, which records them.
    """

    def __init__(self, dispatcher: Dispatcher, port: Port) -> None:
        self._dispatcher = dispatcher
        self.port = port

    def take(self, blocks: int) -> Region | None:
        """A region of `blocks` of the tensor buffer, or None while there is no room."""
        return self._dispatcher.buffer.take(blocks)

    def give_back(self, region: Region) -> None:
        self._dispatcher.buffer.give_back(region)

    def view(self, region: Region) -> NDArray:
        """The bytes of a region."""
        return self._dispatcher.buffer.view(region)

    @serialised
    def submit(self, commands: Iterable[Command]) -> list[Request]:
        """Queue commands in this order, without waiting for their completions."""
        requests = [Request(self.port, command) for command in commands]
        self._dispatcher.submit(requests)
        return requests

    @serialised
    def advance(self, requests: Iterable[Request], cycles: int) -> None:
        """Run the device until one of the requests is done, for `cycles` at most."""
        requests, link = list(requests), self._dispatcher.link
        self._dispatcher.poll()
        self._dispatcher.wait_until_cycle(
            lambda: any(request.done for request in requests), link.cycles + cycles
        )
