"""Settings of a target: its names, its limits, and the hosts that may connect."""

from dataclasses import dataclass

from flashtrain.nvme.wire.dhchap import parse_secret

DISCOVERY_NQN = "nqn.2014-08.org.nvmexpress.discovery"
DEFAULT_NQN = "nqn.2025-01.example.flashtrain:device"
DEFAULT_PORT = 4420
LOOPBACK = "127.0.0.1"
VERSION = 0x0002_0000
"""The version of the standard, 2.0, as properties and data structures have it."""


@dataclass(frozen=True)
class Settings:
    """The settings of a target.

    - nqn: the name of the subsystem; serial: of its controllers.
    - address, port: where it listens; port 0: any free one.
    - hosts: NQNs of the hosts that may connect; empty: all of them.
    - secret: a `DHHC-1:...` that every host must prove to have; empty: none.
    - queues: I/O queues of a controller, at most; entries: of each queue, at most.
    - connections, controllers: at once, at most.
    - stalled_seconds: a connection ends if its host takes no data for so long, or sends no whole PDU.
    """

    nqn: str = DEFAULT_NQN
    serial: str = "flashtrain"
    address: str = LOOPBACK
    port: int = DEFAULT_PORT
    hosts: frozenset[str] = frozenset()
    secret: str = ""
    queues: int = 8
    entries: int = 128
    connections: int = 256
    controllers: int = 64
    stalled_seconds: float = 30.0

    def key_of(self, host: str) -> bytes | None:
        """The key that a host must prove to have, or None; :class:`ServeError` for a secret that is none."""
        return parse_secret(self.secret, host) if self.secret else None
