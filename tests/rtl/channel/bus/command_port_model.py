"""What a cycle of the command port takes: its states counted, from its description."""

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import CycleKind


class CommandPortModel:
    """Remembers the selected die and the kind of the cycle before."""

    def __init__(self, config: FmsConfig):
        self.modes = config.port_modes
        self.die: int | None = None
        self.last = CycleKind.COMMAND

    def cycles(self, kind: CycleKind, die: int, mode: int) -> int:
        """From the acceptance to the answer."""
        times = self.modes[mode]
        if kind is CycleKind.WAS_BUSY:
            return 2
        if kind is CycleKind.LOOK:
            settled = self.die is None or self.last in (CycleKind.COMMAND, CycleKind.LOOK)
            self.last = self.last if settled else CycleKind.LOOK
            return 2 if settled else 2 + times.turn
        turns = int(kind is CycleKind.COMMAND)
        if self.die is None:
            turns += 1
        elif self.die != die:
            turns += 2
        elif kind is not self.last and self.last is not CycleKind.COMMAND:
            turns += 1
        self.die, self.last = die, kind
        reads = kind is CycleKind.DATA_OUT
        low, high = (times.read_low, times.read_high) if reads else (times.write_low, times.write_high)
        return 3 + low + high + turns * times.turn

    def release(self) -> None:
        """The pause ends."""
        self.die = None
