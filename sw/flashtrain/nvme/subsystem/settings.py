"""Settings of a subsystem: its names and its limits, whatever its transport."""

from dataclasses import dataclass

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.wire.nqn import check_nqn

DISCOVERY_NQN = "nqn.2014-08.org.nvmexpress.discovery"
DEFAULT_NQN = "nqn.2025-01.example.flashtrain:device"
MOST_SERIAL_BYTES = 20


@dataclass(frozen=True)
class SubsystemSettings:
    """The settings that all transports share; :class:`ServeError` for one that is wrong.

    - nqn: the name of the subsystem.
    - serial: of its controllers; None: that of the device.
    - queues: I/O queues of a controller, at most; entries: of each queue, at most.
    - controllers: at once, at most.
    """

    nqn: str = DEFAULT_NQN
    serial: str | None = None
    queues: int = 8
    entries: int = 128
    controllers: int = 64

    def __post_init__(self) -> None:
        check_nqn("the name of the subsystem", self.nqn)
        if self.serial is not None:
            _check_serial(self.serial)


def _check_serial(text: str) -> None:
    if not (text.strip() and text.isascii() and text.isprintable() and len(text) <= MOST_SERIAL_BYTES):
        raise ServeError(
            f"the serial number is {text!r}; expected 1 to {MOST_SERIAL_BYTES} printable ASCII characters"
        )
