# amaranth: UnusedElaboratable=no
"""Output ports that no hardware reads: the search for them, and that there are none."""

from dataclasses import replace

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.die import Die
from flashtrain.rtl.pcie.pcie_front_end import PcieFrontEnd
from flashtrain.spec import preset
from tests.rtl.netlist import outputs


class Inner(wiring.Component):
    """Inverts, and counts what nobody reads."""

    value: In(1)
    inverse: Out(1)
    count: Out(4)
    doubled: Out(4)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.inverse.eq(~self.value), self.doubled.eq(self.count + self.count)]
        m.d.sync += self.count.eq(self.count + self.value)
        return m


class Outer(wiring.Component):
    """`doubled` reaches a register of the top, and no pin."""

    value: In(1)
    result: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = inner = Inner()
        seen = Signal(4)
        m.d.sync += seen.eq(seen ^ inner.doubled)
        m.d.comb += [inner.value.eq(self.value), self.result.eq(inner.inverse)]
        return m


def test_an_unread_output_is_found():
    assert outputs(Outer()) == {
        ("Inner", "inverse"): True,
        ("Inner", "count"): False,
        ("Inner", "doubled"): False,
    }


def test_all_outputs_are_read():
    """Each output has a reader in a configuration with few options or in one with all."""
    read: dict[tuple[str, str], bool] = {}
    every = preset("small_ecc")
    every = replace(every, chips=replace(every.chips, ready_busy=True))
    for config in (replace(preset("tiny"), command_port=True), every):
        for top in (Controller(config), Die(config), PcieFrontEnd(config, 2, 16, 8, 1 << 14)):
            for port, is_read in outputs(top).items():
                read[port] = read.get(port, False) or is_read
    tiny = preset("tiny")
    # The reader of a port may be there with SCA alone.
    for port, is_read in outputs(Controller(replace(tiny, chips=replace(tiny.chips, sca=True)))).items():
        if port in read:
            read[port] |= is_read
    assert len(read) > 1000
    assert sorted(port for port, is_read in read.items() if not is_read) == []
