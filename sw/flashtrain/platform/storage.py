"""The storage of a node, as the player sees it: requests go in, and complete at some time.

`Storage` is all that a model of a storage has to offer. The models here serve requests at rates.
`IdealStorage` takes no time, and `RateStorage` divides the time of its resources among the requests.
`flash_storage` has the storage that simulates a flash memory system.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, isfinite
from typing import Protocol

from flashtrain.platform.errors import PlatformError


class Kind(StrEnum):
    """A kind of request. The bytes of an update are those of its gradients, four for each parameter."""

    READ = "read"
    APPEND = "append"
    UPDATE = "update"


@dataclass(eq=False)
class Request:
    """A request of so many bytes to a stream; requests of one kind and stream are served in their order.

    - `tensor`: the name of the data; a read asks for what the last append of that name stored.
    - `weights_only`: a read of the float32 weights alone, out of state that the dies update.
    """

    kind: Kind
    bytes: int
    stream: str
    tensor: str = ""
    weights_only: bool = False


@dataclass(frozen=True)
class Operation:
    """An operation of a part of a storage, from `start` to `end` in seconds."""

    part: str
    name: str
    start: float
    end: float


class Storage(Protocol):
    """A storage in time. Times are seconds.

    A simulation cannot look ahead and go back. Two storages that serve at the same time thus go on in steps,
    each up to the nearest `horizon`. A request may reach a storage that is ahead by less than such a step.
    """

    def prepare(self, stored: Sequence[Request], written: Sequence[Request]) -> None:
        """Before all else, at time 0: it holds `stored`, and data like `written` have just been dropped."""
        ...

    def submit(self, now: float, request: Request) -> None:
        """Add a request; raises `PlatformError` if the storage cannot serve it."""
        ...

    @property
    def busy(self) -> bool:
        """Some request has not completed."""
        ...

    def horizon(self) -> float:
        """The time up to which a busy storage may go on beside another: at least that of its completion."""
        ...

    def advance(self, limit: float) -> tuple[float, list[Request]]:
        """Go on to the next completion or to `limit`, whichever is first; the time, and what completed."""
        ...

    def operations(self) -> Sequence[Operation]:
        """Of its parts, in the window of time that its model chooses."""
        ...


class StorageModel(Protocol):
    """The configuration of a storage."""

    @property
    def name(self) -> str: ...

    @property
    def capacity_bytes(self) -> float:
        """Bytes that it holds at a time."""
        ...

    def resources(self) -> "Sequence[Resource]":
        """The parts that bound it; none for an ideal storage."""
        ...

    def new_storage(self, beside: "Sequence[Resource]") -> Storage:
        """A storage of this model, whose requests also need the resources `beside` it."""
        ...


@dataclass(frozen=True)
class Resource:
    """A part of a storage, and its seconds per byte of each kind of request; absent kinds do not need it."""

    name: str
    seconds_per_byte: Mapping[Kind, float]

    def __post_init__(self) -> None:
        for kind, seconds in self.seconds_per_byte.items():
            if not (isfinite(seconds) and seconds >= 0):
                raise PlatformError(
                    f"resource {self.name}: {seconds} s per byte of {kind}; expected 0 or more"
                )


class _WithoutContents:
    """The part of `Storage` that a storage without addresses and operations has."""

    def prepare(self, stored: Sequence[Request], written: Sequence[Request]) -> None:
        pass

    def operations(self) -> Sequence[Operation]:
        return ()


class IdealStorage(_WithoutContents):
    """A storage that takes no time."""

    def __init__(self) -> None:
        self._done: list[Request] = []
        self._now = 0.0

    def submit(self, now: float, request: Request) -> None:
        self._done.append(request)
        self._now = now

    @property
    def busy(self) -> bool:
        return bool(self._done)

    def horizon(self) -> float:
        return self._now

    def advance(self, limit: float) -> tuple[float, list[Request]]:
        done, self._done = self._done, []
        return self._now if done else limit, done


@dataclass
class _Queue:
    """Requests of a kind and a stream; `remaining` bytes of the first are still to be served."""

    requests: deque[Request] = field(default_factory=deque)
    remaining: float = 0.0


class RateStorage(_WithoutContents):
    """Serves all streams at the same time, each in its order, at rates that its resources allow.

    Alone, a kind of request is served at the rate of its slowest resource. Several kinds at a time are slowed
    down by one factor, so that no resource is used for more than all of the time. Streams of a kind get equal
    parts.
    """

    def __init__(self, resources: Sequence[Resource]) -> None:
        self._resources = resources
        self._queues: dict[tuple[Kind, str], _Queue] = {}
        self._now = 0.0
        self._alone = {kind: alone(resources, kind) for kind in Kind}
        self._rates: dict[tuple[Kind, str], float] = {}

    def submit(self, now: float, request: Request) -> None:
        if not self._alone[request.kind]:
            raise PlatformError(f"this storage cannot serve a request of kind {request.kind}")
        self._move(now)
        queue = self._queues.setdefault((request.kind, request.stream), _Queue())
        queue.requests.append(request)
        if len(queue.requests) == 1:
            queue.remaining = request.bytes
            self._share()

    @property
    def busy(self) -> bool:
        return bool(self._rates)

    def horizon(self) -> float:
        """The time of the next completion, if nothing else is submitted."""
        times = [self._queues[key].remaining / rate for key, rate in self._rates.items()]
        return self._now + min(times, default=inf)

    def advance(self, limit: float) -> tuple[float, list[Request]]:
        time = self.horizon()
        if time > limit:
            self._move(limit)
            return limit, []
        first = min(self._rates, key=lambda key: self._queues[key].remaining / self._rates[key])
        self._move(time)
        queue = self._queues[first]
        done = queue.requests.popleft()
        if queue.requests:
            queue.remaining = queue.requests[0].bytes
        else:
            self._share()
        return time, [done]

    def _move(self, now: float) -> None:
        seconds = now - self._now
        for key, rate in self._rates.items():
            self._queues[key].remaining = max(0.0, self._queues[key].remaining - rate * seconds)
        self._now = now

    def _share(self) -> None:
        """Divide the resources among the queues that have requests."""
        active = [key for key, queue in self._queues.items() if queue.requests]
        streams = {kind: sum(key[0] is kind for key in active) for kind in Kind}
        rates = together(self._resources, [kind for kind in Kind if streams[kind]])
        self._rates = {key: rates[key[0]] / streams[key[0]] for key in active}


def alone(resources: Sequence[Resource], kind: Kind) -> float:
    """Bytes per second of one kind with nothing else; 0 if no resource serves it."""
    most = max((resource.seconds_per_byte.get(kind, 0.0) for resource in resources), default=0.0)
    return 1 / most if most else 0.0


def together(resources: Sequence[Resource], kinds: Sequence[Kind]) -> dict[Kind, float]:
    """Bytes per second of each of several kinds at a time: all slowed down by the same factor."""
    rates = {kind: alone(resources, kind) for kind in kinds}
    loads = [
        sum(resource.seconds_per_byte.get(kind, 0.0) * rate for kind, rate in rates.items())
        for resource in resources
    ]
    slowdown = max(1.0, max(loads, default=1.0))
    return {kind: rate / slowdown for kind, rate in rates.items()}


def rate_storage(resources: Sequence[Resource], beside: Sequence[Resource] = ()) -> Storage:
    """A storage whose requests need `resources`, and those `beside` it.

    It serves the kinds of requests that its own resources serve.
    """
    if not resources:
        return IdealStorage()
    served = {kind for resource in resources for kind in resource.seconds_per_byte}
    needed = [
        Resource(each.name, {kind: s for kind, s in each.seconds_per_byte.items() if kind in served})
        for each in beside
    ]
    return RateStorage([*resources, *needed])
