"""Memories written in the process that reads them: the text, and that it behaves as before."""

import re

import numpy as np
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.sim.partition.memories_in_place import with_memories_in_place
from flashtrain.sim.partition.next_states import with_next_states_at_the_clock

PROCESS = "  always_ff @(posedge clk) begin\n"


class Mixture(wiring.Component):
    """Two memories that share an address, one with write enables; and one that is seen within the clock."""

    term: In(32)
    total: Out(64)

    def elaborate(self, platform):
        m = Module()
        m.submodules.wide = wide = Memory(shape=32, depth=16, init=[])
        m.submodules.narrow = narrow = Memory(shape=16, depth=16, init=[])
        m.submodules.shown = shown = Memory(shape=16, depth=16, init=[])
        write, read = wide.write_port(granularity=8), wide.read_port()
        write_narrow, read_narrow = narrow.write_port(), narrow.read_port()
        write_shown, read_shown = shown.write_port(), shown.read_port(domain="comb")
        place, shared = Signal(4), Signal(4)
        m.d.sync += place.eq(place + 1)
        with m.If(self.term[4]):
            m.d.comb += [shared.eq(place), write.data.eq(self.term * 3), write_narrow.data.eq(self.term[16:])]
        with m.Else():
            m.d.comb += [shared.eq(self.term), write.data.eq(self.term), write_narrow.data.eq(place)]
        m.d.comb += [
            write.addr.eq(shared),
            write.en.eq(self.term[5:9] & self.term[9].replicate(4)),
            read.addr.eq(shared ^ 1),
            read.en.eq(self.term[10]),
            write_narrow.addr.eq(self.term[12:16]),
            write_narrow.en.eq(self.term[11]),
            read_narrow.addr.eq(place),
            read_narrow.en.eq(self.term[1]),
            write_shown.addr.eq(place),
            write_shown.data.eq(self.term),
            write_shown.en.eq(self.term[0]),
            read_shown.addr.eq(self.term[8:12]),
            self.total[:32].eq(read.data),
            self.total[32:48].eq(read_narrow.data),
            self.total[48:].eq(read_shown.data),
        ]
        return m


def exported() -> str:
    return export_design(Mixture(), "mixture").files["mixture.sv"]


def process_of(memory: str) -> str:
    """The process that reads this memory."""
    text = with_memories_in_place(exported())
    (process,) = [one.split("\n  end\n")[0] for one in text.split(PROCESS) if f"<= {memory}[" in one]
    return process


def test_what_registers_see_is_one_process():
    process = process_of("wide")
    assert process == process_of("narrow")
    last_read = max(process.index(f"<= {memory}[") for memory in ("wide", "narrow"))
    writes = [match.start() for match in re.finditer(r"^ +(wide|narrow)\[.* = ", process, re.MULTILINE)]
    assert len(writes) == 6 and last_read < min(writes), "which reads first"
    assert re.search(r"if \(& \S+ \)\n +wide\[\S+ ?\] = \S+ ;\n", process), "a word at once"
    assert with_memories_in_place(exported()).count("shown[") == 3, "what is seen within the clock stays"
    assert "shown[" not in process


def test_what_only_they_need_is_worked_out_there():
    _reads, writes = process_of("wide").rsplit("    if ((", 1)
    assert writes.count("automatic logic") >= 2 and "* 2'h3" in writes


def test_behaves_as_before(behaviour, seed):
    terms = np.random.default_rng(seed).integers(0, 1 << 32, 2000, np.uint32)
    before = behaviour(exported(), terms)
    assert len(set(before)) > 1000
    np.testing.assert_array_equal(behaviour(with_memories_in_place(exported()), terms), before)
    both = with_memories_in_place(with_next_states_at_the_clock(exported()))
    np.testing.assert_array_equal(behaviour(both, terms), before)
