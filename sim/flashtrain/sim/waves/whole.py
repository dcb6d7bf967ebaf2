# amaranth: UnusedElaboratable=no
"""The simulated system as one Verilated model, compiled behind the interface of the one in parts."""

from collections.abc import Iterator
from pathlib import Path

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

import flashtrain.sim.link
from flashtrain.rtl.controller import Controller
from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.shared import SharedModule, leaf_ports
from flashtrain.sim import partition
from flashtrain.sim.link.library import BUFFER_HEADER, array_objects
from flashtrain.sim.link.pins import nand_pins, pins_of_front_end
from flashtrain.sim.nand import VERILATOR_SOURCES, NandChannel
from flashtrain.sim.partition.emit import member
from flashtrain.sim.verilator.cxx import WaveFormat
from flashtrain.sim.verilator.verilated import (
    ModelSource,
    build_shared_library,
    exported,
    verilate_all,
)
from flashtrain.spec import FmsConfig

OPTIMIZATION = "-O1"
"""Compiling and running together take half of the time that they take at -O0 or -O3."""

_HERE = Path(__file__).parent
_DEVICE = Path(flashtrain.sim.link.__file__).parent / "device"
_RUNTIME = Path(partition.__file__).parent / "runtime"
_OUTSIDE = ("data", "queue", "registers", "irq")


class Whole(wiring.Component):
    """The controller with dies, arrays and checkers.

    Members
    -------
    data, queue, registers, irq : see `Controller`
    cycle : In(64)       number of this cycle; stamps messages and events
    channel_C_pin : Out  each of `nand_pins` of channel C
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        pins = {
            f"channel_{number}_{pin.name}": Out(pin.width)
            for number in range(config.geometry.channels)
            for pin in nand_pins(config)
        }
        outside = {name: Controller(config).signature.members[name] for name in _OUTSIDE}
        super().__init__({**outside, "cycle": In(64), **pins})

    def elaborate(self, platform):
        m = Module()
        m.submodules.controller = controller = Controller(self.config)
        forward(m, controller, self, _OUTSIDE)
        nand = NandChannel(self.config)
        for number in range(self.config.geometry.channels):
            m.submodules[f"nand_{number}"] = channel = SharedModule(nand, "flashtrain_nand_channel")
            wiring.connect(m, controller.nand[number], channel.bus)
            m.d.comb += [channel.cycle.eq(self.cycle), channel.channel.eq(number)]
            for pin in nand_pins(self.config):
                seen = getattr(self, f"channel_{number}_{pin.name}")
                m.d.comb += seen.eq(getattr(controller.nand[number], pin.name))
        return m


def build_whole(config: FmsConfig, waves: WaveFormat) -> Path:
    """The path of the library, which can write these waves."""
    sources = sorted(exported(lambda folder: _write(config, folder), "whole", repr(config)).glob("*.sv"))
    arrays = [path for path in VERILATOR_SOURCES if path.suffix == ".sv"]
    source = ModelSource([*sources, *arrays], "whole", "Vwhole", waves, OPTIMIZATION)
    models = verilate_all([source], f"{config.name} as one model, with waves as {waves.name}")
    cpp = [_RUNTIME / "model.h", *(_DEVICE / name for name in ("axi_memory.h", "recording.h", "device.cpp"))]
    cpp += [_HERE / name for name in ("system.h", "waves.h", "waves.cpp")]
    generated = {"components.h": _components(config, waves), "buffer.h": BUFFER_HEADER}
    return build_shared_library(
        models,
        cpp,
        "flashtrain_whole",
        optimization=OPTIMIZATION,
        generated={name: "\n".join(lines) + "\n" for name, lines in generated.items()},
        objects=array_objects(OPTIMIZATION),
    )


def _write(config: FmsConfig, folder: Path) -> None:
    """The text of the system, in which signals that nobody has named begin with an underscore.

    Verilator leaves these out of waves: they are a good third of all, and readers refuse their names.
    """
    export_design(Whole(config), "whole").write(folder)
    for path in folder.glob("*.sv"):
        path.write_text(path.read_text(encoding="utf-8").replace("\\$", "\\_$"), encoding="utf-8")


def _components(config: FmsConfig, waves: WaveFormat) -> Iterator[str]:
    """The interface of the front end in parts, and the functions of `pins.py`."""
    yield "#pragma once"
    yield '#include "Vwhole.h"'
    yield '#include "model.h"'
    if waves is WaveFormat.FST:
        yield "#define WAVES_FST"
    yield '#include "waves.h"'
    yield "using flashtrain::carry;"
    yield "class FrontEnd {"
    yield "  public:"
    yield "    explicit FrontEnd(Vwhole& model) : model_{model} {}"
    for name, flow, _value in leaf_ports(Controller(config)):
        if name.startswith("nand__"):
            continue
        if flow is In:
            yield "    template <typename Value>"
            yield f"    void {name}(const Value& value) {{ model_.{member(name)} = value; }}"
        else:
            yield f"    const auto& {name}() const {{ return model_.{member(name)}; }}"
    yield "  private:"
    yield "    Vwhole& model_;"
    yield "};"
    yield from pins_of_front_end(config)
    yield "template <typename Action>"
    yield "void pins_of_channels(const Vwhole& model, Action& action) {"
    for number in range(config.geometry.channels):
        yield from (f"    action(model.channel_{number}_{pin.name});" for pin in nand_pins(config))
    yield "}"
