"""The oracle: an entry and a port in, the answer that the contract demands out."""

from collections.abc import Mapping
from typing import NamedTuple

from flashtrain.spec import Opcode, Port, Status, Submission

from .checks import Surroundings, check_entry
from .conditions import check_conditions
from .effects import carry_out
from .footprint import footprint
from .state import DeviceState, StreamState
from .tile_step import DieStep
from .transfers import Effect, Memory
from .verdict import Refused

NOTHING = Effect()


class Answer(NamedTuple):
    """`rule`: the one that the command breaks, by number of check."""

    status: Status
    rule: str
    effect: Effect = NOTHING


class StreamZone(NamedTuple):
    """A zone of a stream."""

    nsid: int
    number: int


class Oracle:
    """Answers commands one after the other; `state` is that of the device after the last one."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.state = self.fresh_state(now=0)

    def fresh_state(self, now: int, recovering: bool = False) -> DeviceState:
        """After an enable."""
        g = self.around.config.geometry
        streams = {nsid: StreamState.empty(rights) for nsid, rights in self.around.rights.items()}
        return DeviceState(streams, [DieStep() for _ in range(g.channels * g.dies)], recovering, now=now)

    def refusal(self, entry: int, port: Port) -> Answer | None:
        """The answer to an entry that checks 1 to 7 refuse, whatever the state."""
        try:
            check_entry(entry, port, self.around)
        except Refused as refused:
            return Answer(refused.status, refused.rule)
        return None

    def answer(self, entry: int, memory: Memory) -> Answer:
        """The answer to an entry that passes checks 1 to 7; the state is changed as the command does."""
        config = self.around.config
        try:
            check_conditions(entry, config, self.state)
        except Refused as refused:
            return Answer(refused.status, refused.rule)
        effect = carry_out(entry, config, self.state, memory)
        return Answer(effect.status, effect.rule, effect)

    def depends_on_reserved(self, entry: int, reserved: Mapping[StreamZone, int]) -> bool:
        """Whether the answer to an entry that passes checks 1 to 7 depends on the time.

        It does if it is not the same while appends under way still have so many blocks behind their last
        ones, by stream and zone.
        """
        streams = self.state.streams
        concerned = footprint(entry, self.around).streams
        held = {zone: blocks for zone, blocks in reserved.items() if zone.nsid in concerned and blocks}
        if held and Submission.opcode.get(entry) == Opcode.ZONE_MANAGEMENT_RECEIVE:
            return True
        settled = self._condition(entry)
        for zone, blocks in held.items():
            streams[zone.nsid].zones[zone.number].pages += [None] * blocks
        early = self._condition(entry)
        for zone, blocks in held.items():
            del streams[zone.nsid].zones[zone.number].pages[-blocks:]
        return early != settled

    def _condition(self, entry: int) -> Status:
        """The status of checks 8 and 9."""
        try:
            check_conditions(entry, self.around.config, self.state)
        except Refused as refused:
            return refused.status
        return Status.SUCCESS
