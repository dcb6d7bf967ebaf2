"""The oracle: an entry and a port in, the answer that the contract demands out."""

from typing import NamedTuple

from flashtrain.spec import Port, Status

from .checks import Surroundings, check_entry
from .conditions import check_conditions
from .effects import carry_out
from .state import DeviceState, StreamState
from .tile_step import DieStep
from .transfers import Effect, Memory
from .verdict import Refused

NOTHING = Effect()
PASSED = "all checks pass"


class Answer(NamedTuple):
    """`rule`: the one that the command breaks, by number of check."""

    status: Status
    rule: str
    effect: Effect = NOTHING


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
        return Answer(Status.SUCCESS, PASSED, carry_out(entry, config, self.state, memory))
