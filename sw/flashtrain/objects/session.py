"""`Session`: one connection to a target, opened when it is needed."""

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock

from flashtrain.host.process import Inherited
from flashtrain.nvme.client.authentication import Offer
from flashtrain.nvme.client.host import DEFAULT_HOST as DEFAULT_HOST_NQN
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.errors import CommandFailed, ProtocolError
from flashtrain.nvme.wire.nqn import is_nqn
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec.errors import require

from .state import UNKNOWN_CONTROLLER
from .url import Address

_LEAST_SECONDS, _MOST_SECONDS = 0.01, 1e6
DEFAULT_NQN = "nqn.2025-01.example.flashtrain:device"


@dataclass(frozen=True)
class Target:
    """The way to a target; :class:`ConfigError` for a value that protects nothing, or is none.

    - nqn, host_nqn: names of the subsystem and of this host.
    - dhchap_secret: as `nvme gen-dhchap-key` prints it; None without authentication.
    - timeout: seconds without an answer after which the target counts as dead.
    - lease: seconds without a sign of life after which a client has lost its claims; of all clients the same.
    """

    address: Address
    nqn: str = DEFAULT_NQN
    host_nqn: str = DEFAULT_HOST_NQN
    dhchap_secret: str | None = None
    timeout: float = 60.0
    lease: float = 60.0

    def __post_init__(self) -> None:
        for field, name in (("nqn", self.nqn), ("host_nqn", self.host_nqn)):
            require(is_nqn(name), field, name, "a name such as nqn.2014-08.org.example:name")
        for field, seconds in (("timeout", self.timeout), ("lease", self.lease)):
            # The target takes a keep-alive time of 0 for none, and would end no silent connection.
            require(_LEAST_SECONDS <= seconds <= _MOST_SECONDS, field, seconds,
                    f"{_LEAST_SECONDS:g} to {_MOST_SECONDS:,.0f} seconds")  # fmt: skip


class Session(Inherited):
    """A connection that threads share by turns. A forked process opens one of its own.

    The target ends a connection that is silent for half a lease (keep alive). So no command of a client that
    was suspended arrives after another one has taken its claims.

    - lock: held for the time of several commands that belong together.
    - number: of the connection; another number means that the target may have been started anew.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.lock = RLock()
        self.number = 0
        self._host: Host | None = None
        self._used = 0.0

    def forked(self) -> None:
        """Begin without a connection, and with a lock that no thread of the other process holds."""
        self.lock, self._host = RLock(), None

    def close(self) -> None:
        """End the connection; the next command opens another one."""
        with self.lock:
            if self._host is not None:
                self._host.close()
            self._host = None

    @property
    def is_open(self) -> bool:
        return self._host is not None

    @property
    def controller(self) -> int:
        """The number of the controller of the connection; `UNKNOWN_CONTROLLER` without one."""
        return UNKNOWN_CONTROLLER if self._host is None else self._host.controller

    def controllers(self) -> set[int] | None:
        """The controllers that are connected to the target; None of a target that does not list them."""
        try:
            with self.commands() as host:
                return host.controllers()
        except CommandFailed:
            return None

    @contextmanager
    def commands(self, only: int | None = None) -> Iterator[Host]:
        """The host, for commands of the block. ConnectionError if the target does not answer.

        only: the number of the connection; ConnectionError if there is another one now.
        """
        with self.lock:
            host = self._connected()
            if only is not None and only != self.number:
                raise ConnectionError(f"{self.target.address}: the connection has ended meanwhile")
            try:
                yield host
            except CommandFailed:
                raise
            except (ProtocolError, OSError) as error:
                self.close()
                raise _dead(self.target.address, error) from error
            except BaseException:
                self.close()  # commands are in flight, and nobody waits for their answers
                raise
            self._used = time.monotonic()

    def _connected(self) -> Host:
        silent = time.monotonic() - self._used
        if silent > self.target.lease / 3:
            self.close()
        if self._host is None:
            self._host = self._open()
            self.number += 1
        return self._host

    def _open(self) -> Host:
        a = self.target
        offer = None if a.dhchap_secret is None else Offer(a.dhchap_secret)
        try:
            return Host(
                a.address, a.nqn, a.host_nqn, timeout=a.timeout, offer=offer,
                keep_alive=int(a.lease * 500),
            )  # fmt: skip
        except CommandFailed as error:
            refusals: dict[int, str] = {
                TargetStatus.CONNECT_INVALID_HOST: f"host {a.host_nqn!r} may not connect to {a.nqn!r}",
                TargetStatus.AUTHENTICATION_REQUIRED: f"{a.nqn!r} demands a secret (dhchap_secret)",
            }
            if (text := refusals.get(error.status)) is not None:
                raise PermissionError(errno.EACCES, f"{a.address}: {text}") from error
            raise ConnectionError(f"{a.address}, subsystem {a.nqn!r}: {error}") from error
        except ProtocolError as error:
            if "authentication" in str(error):
                raise PermissionError(errno.EACCES, f"{a.address}: {error}") from error
            raise _dead(a.address, error) from error
        except OSError as error:
            raise _dead(a.address, error) from error


def _dead(address: Address, error: Exception) -> ConnectionError:
    return ConnectionError(f"{address}: {getattr(error, 'strerror', None) or error or 'no answer'}")
