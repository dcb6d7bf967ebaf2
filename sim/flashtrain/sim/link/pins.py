# amaranth: UnusedElaboratable=no
"""The pins of a simulated system, which the Link logs: the controller's outputs and all NAND pins."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amaranth import Value
from amaranth.lib.wiring import Out

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.lib.shared import leaf_ports
from flashtrain.sim.nand.sdr_bridge import dies_bus
from flashtrain.spec import FmsConfig


@dataclass(frozen=True)
class Pin:
    """`width` bits of which `valid`, if any, says whether they matter."""

    name: str
    width: int
    valid: str = ""


def controller_pins(config: FmsConfig) -> list[Pin]:
    """The outputs but those to the NAND; payloads of AXI channels matter only while these are valid."""
    ports = {
        name: len(value)
        for name, flow, value in leaf_ports(Controller(config))
        if flow is Out and not name.startswith("nand__")
    }

    def valid_of(name: str) -> str:
        channel = re.match(r"(\w+__)(aw|ar|w|r|b)(?!valid|ready)\w+", name)
        return f"{channel[1]}{channel[2]}valid" if channel else ""

    return [Pin(name, width, valid_of(name)) for name, width in ports.items()]


def nand_pins(config: FmsConfig) -> list[Pin]:
    """The pins between one channel and its dies, in both directions."""
    bus = dies_bus(config).create()
    return [Pin(str(name), len(Value.cast(value))) for (name,), _, value in bus.signature.flatten(bus)]


def pin_names(config: FmsConfig) -> list[str]:
    """The names by the numbers in the log."""
    channels = range(config.geometry.channels)
    names = [pin.name for pin in controller_pins(config)]
    return names + [f"channel {number}: {pin.name}" for number in channels for pin in nand_pins(config)]


def pins_of_front_end(config: FmsConfig) -> Iterator[str]:
    """A C++ function that calls its action with each of `controller_pins`."""
    yield "template <typename Action>"
    yield "void pins_of_front_end(const FrontEnd& front_end, Action& action) {"
    for pin in controller_pins(config):
        yield from _seen(f"front_end.{pin.name}()", f"front_end.{pin.valid}()" if pin.valid else "")
    yield "}"


def pins_of_channel(config: FmsConfig, from_dies: Sequence[str]) -> Iterator[str]:
    """A C++ function that calls its action with each of `nand_pins`; the dies drive these."""
    yield "template <typename Action, typename Dies>"
    yield "void pins_of_channel(const Channel& engine, const Dies& dies, int i, Action& action) {"
    for pin in nand_pins(config):
        if pin.name not in from_dies:
            yield from _seen(f"engine.nand__{pin.name}(i)", "")
        else:
            shift = " << d" if pin.name == "rb_n" else ""
            driven = f"static_cast<uint32_t>(dies[d]->model.pins__{pin.name}(i)){shift}"
            yield f"    uint32_t {pin.name} = 0;"
            yield f"    for (int d = 0; d < kDies; ++d) {pin.name} |= {driven};"
            yield from _seen(pin.name, "")
    yield "}"


def _seen(value: str, valid: str) -> Iterator[str]:
    if valid:
        yield f"    if ({valid}) action({value}); else action(CData{{0}});"
    else:
        yield f"    action({value});"
