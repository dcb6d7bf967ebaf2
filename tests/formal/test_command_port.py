"""Theorem: no cycle hangs the command port, and none of its pins hurts a chip.

For two dies and the times of a slow clock, whatever firmware sends and however late answers are taken:

- A cycle that is taken has its answer within 3 + the longest low + the longest high cycles and three times
  `turn`; a command for another die does take three. A cycle that waits
  is taken as soon as the bus is granted and the port is at rest; with neither a cycle nor a pause the port
  releases the bus within `turn` and a cycle.
- One strobe is low at most, never while a chip enable changes. Between two dies no chip enable is low. DQ is
  not driven while RE_n is low. CLE and ALE are not high together, and neither is while RE_n is low.
- While the bus is not granted, all pins are at rest and no die is selected.

Assumes that the bus controller grants until the port has released, and that an offered cycle stays.
"""

from dataclasses import replace

from amaranth.hdl import Module, Signal

from flashtrain.rtl.channel.bus.command_port import CommandPort
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import FmsConfig
from flashtrain.spec.presets import TINY
from flashtrain.spec.sdr import SdrCycles

MODES = [SdrCycles(2, 1, 3, 1, 4), SdrCycles(1, 2, 2, 2, 4)] * 3


class FewCycles(FmsConfig):
    """Times of a few cycles: the shape of the state machine does not depend on them."""

    @property
    def port_modes(self) -> list[SdrCycles]:
        return MODES


def config() -> FmsConfig:
    two = replace(TINY, geometry=replace(TINY.geometry, dies=2), command_port=True)
    return FewCycles(**{name: getattr(two, name) for name in two.__dataclass_fields__})


TURN = 4
LONGEST = 3 + 3 + 2 + 3 * TURN
OF_A_COMMAND = 3 + 2 + 1 + 3 * TURN
COUNTED = {
    "SHOW": (TURN, 1 + TURN),
    "DESELECT": (TURN, 1 + TURN), "TURN": (TURN, 1 + 2 * TURN), "LOW": (3, 5 + 2 * TURN),
    "HIGH": (2, 7 + 2 * TURN), "SETTLE": (TURN, 7 + 3 * TURN), "RELEASE": (TURN, 0),
}  # fmt: skip
"""States that a counter ends: their cycles at most, and those since the acceptance at their end."""


class PortEnds(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        port = self.design
        pins = port.pins
        self.keeps_offers(m, port.cycles)
        self.assume(m, port.cycles.payload.mode < len(MODES))
        self.assume(m, port.cycles.payload.kind < 5)

        # The bus controller: a grant ends when the port has released, and there is no pause.
        granted_before, may_end = Signal(), Signal(init=1)
        m.d.sync += [granted_before.eq(port.granted), may_end.eq(port.released & ~port.pause)]
        self.assume(m, port.granted | ~granted_before | may_end)

        taken, at_rest = Signal(), inside.ongoing("IDLE", fsm="command_port")
        releasing = inside.ongoing("RELEASE", fsm="command_port")
        m.d.comb += taken.eq(port.cycles.valid & port.cycles.ready)
        self.claim(m, ~(port.cycles.valid & port.granted & at_rest) | taken)
        waits, since = Signal(), Signal(range(LONGEST + 2))
        m.d.sync += since.eq(since + (waits & (since <= LONGEST)))
        with m.If(taken):
            m.d.sync += [waits.eq(1), since.eq(1)]
        with m.Elif(port.answers.valid):
            m.d.sync += waits.eq(0)
        self.claim(m, ~waits | port.answers.valid | (since < LONGEST))
        self.witness(m, waits & port.answers.valid & (since == OF_A_COMMAND))

        resting = Signal(range(TURN + 4))
        with m.If(port.cycles.valid | port.pause | port.released | ~(at_rest | releasing)):
            m.d.sync += resting.eq(0)
        with m.Elif(resting != TURN + 3):
            m.d.sync += resting.eq(resting + 1)
        self.claim(m, resting <= TURN + 1)

        # Pins.
        self.claim(m, ~(pins.we & pins.re))
        self.claim(m, ~(pins.re & (pins.drive | pins.cle | pins.ale)))
        self.claim(m, ~(pins.cle & pins.ale))
        selected, die, strobe = Signal(), Signal.like(pins.die), Signal()
        m.d.sync += [selected.eq(pins.selected), die.eq(pins.die), strobe.eq(pins.we | pins.re)]
        changes = (selected != pins.selected) | (selected & (die != pins.die))
        self.claim(m, ~(pins.we | pins.re) | pins.selected)
        self.claim(m, ~(selected & pins.selected) | (die == pins.die))
        self.claim(m, ~changes | ~(pins.we | pins.re | strobe))
        self.claim(m, ~(pins.we | pins.re | pins.selected) | port.granted)

        # Where the port is, says how long it has been under way.
        left, ended = inside.part("counter")["left"], inside["counter"].port.ended
        here = {name: inside.ongoing(name, fsm="command_port") for name in (*COUNTED, "CHOOSE", "BEGIN")}
        self.lemma(m, inside.legal(fsm="command_port"))
        self.lemma(m, at_rest | releasing | port.granted)
        self.lemma(m, ~waits | ~(at_rest | releasing))
        self.lemma(m, (inside["low"] < 3) & (inside["high"] < 2) & (inside["cycle"].mode < len(MODES)))
        self.lemma(m, ~here["CHOOSE"] | (waits & (since == 1)))
        self.lemma(m, ~here["BEGIN"] | (waits & (since <= 2 + 2 * TURN)))
        for state, (length, most) in COUNTED.items():
            self.lemma(m, ~here[state] | ((left < length) & (ended == (left == 0))))
            if state != "RELEASE":
                self.lemma(m, ~here[state] | (waits & (since + left <= most)))
        self.lemma(m, ~releasing | (~pins.selected & (resting + left <= TURN)))
        self.lemma(m, ~here["DESELECT"] | ~pins.selected)
        with_chip = inside.ongoing("LOW", "HIGH", "TURN", "BEGIN", "SETTLE", fsm="command_port")
        self.lemma(m, ~with_chip | pins.selected)


def test_ends() -> None:
    prove(PortEnds(CommandPort(config())), depth=4)


def test_can_take_as_long() -> None:
    reach(PortEnds(CommandPort(config())), depth=60)


def test_a_state_without_an_end() -> None:
    end = 'with m.State("SETTLE"):\n                with m.If({}):'
    faulty = planted(CommandPort, (end.format("counter.port.ended"), end.format("0")))
    refute(PortEnds(faulty(config())), depth=60)


def test_a_die_is_changed_at_once() -> None:
    """The next die is selected without the one before having been released."""
    faulty = planted(CommandPort, ("with m.Elif(pins.selected):", "with m.Elif(pins.selected & 0):"))
    refute(PortEnds(faulty(config())), depth=60)
