"""Settings of a target: where it listens, and the hosts that may connect."""

import ipaddress
from dataclasses import dataclass

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.dhchap import parse_secret
from flashtrain.nvme.wire.nqn import check_nqn

DEFAULT_PORT = 4420
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Settings(SubsystemSettings):
    """The settings of a target, beside those of its subsystem; :class:`ServeError` for one that is wrong.

    - address, port: where it listens; port 0: any free one.
    - hosts: NQNs of the hosts that may connect; None: all of them.
    - secret: a `DHHC-1:...` that every host must prove to have; None: none.
    - connections: at once, at most.
    - entering: connections whose host is not admitted yet, at most; one more ends the oldest of them.
    - stalled_seconds: the time until a host is admitted, that of one PDU, and that in which a host takes no
      data, at most. A connection that exceeds one of them ends.
    """

    address: str = LOOPBACK
    port: int = DEFAULT_PORT
    hosts: frozenset[str] | None = None
    secret: str | None = None
    connections: int = 256
    entering: int = 64
    stalled_seconds: float = 30.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hosts is not None and not self.hosts:
            raise ServeError("no host may connect; expected one name at least, or None for all hosts")
        for host in self.hosts or ():
            check_nqn("a host that may connect", host)
        self.key_of("nqn.")  # a wrong secret is found here, and not by the first host
        _check_address(self.address)

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
