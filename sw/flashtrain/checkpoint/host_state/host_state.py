"""The state of a training's host in bytes: the position in its data, random states, schedules, scales."""

from typing import Any, Protocol

from flashtrain.checkpoint.errors import CheckpointDamaged

from .plain_values import packed, unpacked


class Part(Protocol):
    """A part of the host's state: a sampler, a schedule, a random state."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any], /) -> Any: ...


class HostState:
    """Named parts of a host's state.

    Their states consist of plain values (`plain_values`), and come back exactly.
    """

    def __init__(self, **parts: Part) -> None:
        self._parts = parts

    def pack(self) -> bytes:
        """The present state of all parts; :class:`CheckpointError` names what is no plain value."""
        return packed({name: part.state_dict() for name, part in self._parts.items()})

    def restore(self, raw: bytes) -> None:
        """Set all parts, in their order, to the state that :meth:`pack` gave.

        :class:`CheckpointDamaged` for other bytes, or of other parts, before anything is changed.
        """
        states = unpacked(raw)
        if not isinstance(states, dict) or states.keys() != self._parts.keys():
            got = ", ".join(states) if isinstance(states, dict) else type(states).__name__
            raise CheckpointDamaged(f"the host's state is of {got}; expected {', '.join(self._parts)}")
        for name, part in self._parts.items():
            part.load_state_dict(states[name])
