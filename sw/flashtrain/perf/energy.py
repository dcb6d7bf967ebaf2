"""Energy by a stated model: what is done, times what each costs.

None of the sources of this project gives the constants. They are assumptions with a default from public text,
fields of `EnergyModel`, and meant to be replaced.
"""

from dataclasses import dataclass

from flashtrain.spec import FmsConfig


@dataclass(frozen=True)
class EnergyModel:
    """Energy of operations and transfers, in joules.

    - `supply_volts`, `program_amperes`, `sense_amperes`: one plane at work. The energy is current x voltage x
      time. Source: NAND01G-B2B datasheet, Numonyx 2008, table 23, 3 V devices: typically 10 mA for a program
      and for a read.
    - `channel_joules_per_bit`: one bit on the NAND bus: half of C V^2 per transition. A line has 10 pF (two
      dies, a controller and the trace) and 1.2 V (NV-DDR3). It has a transition every other bit, and 8 lines
      share a strobe.
    - `link_joules_per_bit`: one bit between device and host: both ends, and the host's memory behind them.
      Source: Horowitz, "Computing's energy problem", ISSCC 2014: 1.3 to 2.6 nJ for 64 bits of DRAM. The value
      takes the lower end, and a quarter of it for a serial link.
    - `operation_joules`: a binary32 multiply-add in 45 nm (Horowitz 2014: 3.7 pJ + 0.9 pJ).
    - `instruction_joules`: overhead of a processor for an operation (Horowitz 2014: 70 pJ for an instruction
      of 8 lanes). An update unit has no such overhead.
    """

    supply_volts: float = 3.0
    program_amperes: float = 10e-3
    sense_amperes: float = 10e-3
    channel_joules_per_bit: float = 4.5e-12
    link_joules_per_bit: float = 25e-12
    operation_joules: float = 4.6e-12
    instruction_joules: float = 70e-12 / 8


@dataclass(frozen=True)
class Work:
    """Work of a step: pages programmed and sensed, bytes moved, floating-point operations."""

    programs: int
    senses: int
    channel_bytes: float
    link_bytes: float = 0
    operations: int = 0
    host_operations: int = 0


@dataclass(frozen=True)
class Energy:
    """Joules, by where they go."""

    array: float
    channel: float
    link: float
    computing: float

    @property
    def total(self) -> float:
        return self.array + self.channel + self.link + self.computing

    def per(self, count: int) -> "Energy":
        """Of one of `count` equal pieces of work."""
        return Energy(self.array / count, self.channel / count, self.link / count, self.computing / count)


def energy(config: FmsConfig, work: Work, model: EnergyModel | None = None) -> Energy:
    """Energy of `work` on devices of this timing."""
    m = model or EnergyModel()
    seconds = {name: config.timing.cycles(name) / config.timing.clock_hz for name in ("tprog", "tr")}
    return Energy(
        array=m.supply_volts
        * (
            work.programs * m.program_amperes * seconds["tprog"]
            + work.senses * m.sense_amperes * seconds["tr"]
        ),
        channel=8 * work.channel_bytes * m.channel_joules_per_bit,
        link=8 * work.link_bytes * m.link_joules_per_bit,
        computing=work.operations * m.operation_joules
        + work.host_operations * (m.operation_joules + m.instruction_joules),
    )
