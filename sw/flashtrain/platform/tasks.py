"""The tasks of an iteration: what each part of a platform does, and what it waits for."""

from dataclasses import dataclass, field
from enum import Enum, StrEnum

from flashtrain.platform.storage import Kind, Request


class Side(Enum):
    """One of the activation nodes, which all do the same, or all weight nodes together."""

    ACTIVATION = "activation node"
    WEIGHT = "weight node"


class Part(StrEnum):
    """A part of the platform that does tasks."""

    CORE = "core"
    WEIGHT_CORE = "weight core"
    WEIGHTS_IN = "weights in"
    GRADIENTS_OUT = "gradients out"
    COLLECTIVES = "collectives"
    STORAGE = "storage"
    WEIGHT_STORAGE = "weight storage"

    @property
    def is_storage(self) -> bool:
        return self in (Part.STORAGE, Part.WEIGHT_STORAGE)


STORAGE_OF = {Side.ACTIVATION: Part.STORAGE, Side.WEIGHT: Part.WEIGHT_STORAGE}


@dataclass(eq=False)
class Space:
    """Bytes of a tensor in the tensor buffer of a side, until all of its `users` have finished."""

    side: Side
    bytes: float
    users: int = 0


@dataclass(eq=False)
class Task:
    """Work of a part: `seconds`, or a request to a storage for a tensor.

    - `weights_only`: as of a `Request`.
    - `before`: the tasks that must have finished.
    - `takes`: space that it needs before it begins. Space of a side is granted in the order of the tasks.
    - `uses`: space that stays at least until it has finished.
    """

    name: str
    part: Part
    seconds: float = 0.0
    kind: Kind = Kind.READ
    bytes: float = 0.0
    stream: str = ""
    tensor: str = ""
    weights_only: bool = False
    before: "list[Task]" = field(default_factory=list)
    takes: list[Space] = field(default_factory=list)
    uses: list[Space] = field(default_factory=list)

    def use(self, space: Space) -> None:
        if space not in self.uses:
            self.uses.append(space)
            space.users += 1

    @property
    def request(self) -> Request:
        """A new request of a task of a storage."""
        return Request(self.kind, round(self.bytes), self.stream, self.tensor, self.weights_only)

    @property
    def cause(self) -> str:
        """The cause of a wait for this task, in words."""
        return f"{self.part} {self.kind}" if self.part.is_storage else str(self.part)
