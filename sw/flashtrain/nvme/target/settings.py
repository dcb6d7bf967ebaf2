"""Settings of a target: its names, its limits, and the hosts that may connect."""

import ipaddress
from dataclasses import dataclass

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.wire.dhchap import parse_secret
from flashtrain.nvme.wire.nqn import check_nqn

DISCOVERY_NQN = "nqn.2014-08.org.nvmexpress.discovery"
DEFAULT_NQN = "nqn.2025-01.example.flashtrain:device"
DEFAULT_PORT = 4420
LOOPBACK = "127.0.0.1"
VERSION = 0x0002_0000
"""The version of the standard, 2.0, as properties and data structures have it."""

MOST_SERIAL_BYTES = 20


@dataclass(frozen=True)
class Settings:
    """The settings of a target; :class:`ServeError` for one that is wrong.

    - nqn: the name of the subsystem.
    - serial: of its controllers; None: that of the device.
    - address, port: where it listens; port 0: any free one.
    - hosts: NQNs of the hosts that may connect; None: all of them.
    - secret: a `DHHC-1:...` that every host must prove to have; None: none.
    - queues: I/O queues of a controller, at most; entries: of each queue, at most.
    - connections, controllers: at once, at most.
    - entering: connections whose host is not admitted yet, at most; one more ends the oldest of them.
    - stalled_seconds: the time until a host is admitted, that of one PDU, and that in which a host takes no
      data, at most. A connection that exceeds one of them ends.
    """

    nqn: str = DEFAULT_NQN
    serial: str | None = None
    address: str = LOOPBACK
    port: int = DEFAULT_PORT
    hosts: frozenset[str] | None = None
    secret: str | None = None
    queues: int = 8
    entries: int = 128
    connections: int = 256
    controllers: int = 64
    entering: int = 64
    stalled_seconds: float = 30.0

    def __post_init__(self) -> None:
        check_nqn("the name of the subsystem", self.nqn)
        if self.hosts is not None and not self.hosts:
            raise ServeError("no host may connect; expected one name at least, or None for all hosts")
        for host in self.hosts or ():
            check_nqn("a host that may connect", host)
        self.key_of("nqn.")  # a wrong secret is found here, and not by the first host
        _check_address(self.address)
        if self.serial is not None:
            _check_serial(self.serial)

    def key_of(self, host: str) -> bytes | None:
        """The key that a host must prove to have, or None; :class:`ServeError` for a secret that is none."""
        return None if self.secret is None else parse_secret(self.secret, host)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the target."""
        return ipaddress.ip_address(self.address).is_loopback


def _check_address(text: str) -> None:
    # An empty address would be each address of this machine, and a name may be those of others.
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise ServeError(f"the address is {text!r}; expected one of IP, such as {LOOPBACK}") from None


def _check_serial(text: str) -> None:
    if not (text.strip() and text.isascii() and text.isprintable() and len(text) <= MOST_SERIAL_BYTES):
        raise ServeError(
            f"the serial number is {text!r}; expected 1 to {MOST_SERIAL_BYTES} printable ASCII characters"
        )
