"""The simulated system as a shared library, for the RTL Link.

Hub, channel and die are models of their own: one channel's code serves all channels, so a system of 64 takes
little longer to compile than one of 4, and a die that rests costs nothing. `device.cpp` carries values
between them once per clock, with functions generated here.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from amaranth import Value
from amaranth.lib.wiring import Out

from flashtrain.rtl.channel_ports import ChannelPorts
from flashtrain.rtl.hub import Hub
from flashtrain.sim.build_cache import BUILD, content_key
from flashtrain.sim.channel_unit import ChannelUnit
from flashtrain.sim.nand import SHARED_PINS, VERILATOR_SOURCES, DieUnit
from flashtrain.sim.verilated import build_shared_library, exported_sources, verilate
from flashtrain.spec import FmsConfig

HUB, CHANNEL, DIE = "flashtrain_hub", "flashtrain_channel_unit", "flashtrain_die_unit"


def build_library(config: FmsConfig) -> Path:
    """The library's path; built once per content."""
    nand_models = {path.stem: path for path in VERILATOR_SOURCES if path.suffix == ".sv"}
    hub = verilate(exported_sources(lambda: Hub(config), HUB, repr(config)), HUB, "Vhub")
    channel_sources = exported_sources(lambda: ChannelUnit(config), CHANNEL, repr(config))
    channel = verilate([*channel_sources, nand_models["checker"]], CHANNEL, "Vchannel")
    die_sources = exported_sources(lambda: DieUnit(config), DIE, repr(config))
    die = verilate([*die_sources, nand_models["array"]], DIE, "Vdie")
    folder = Path(__file__).parent / "verilated_fms"
    cpp = [path for path in VERILATOR_SOURCES if path.suffix == ".cpp"]
    cpp += [folder / "device.cpp", folder / "axi_memory.h", folder / "step.h", _exchange_header(config)]
    return build_shared_library([hub, channel, die], cpp, "flashtrain_device")


def _exchange_header(config: FmsConfig) -> Path:
    """Writes the functions that carry values between hub and channels; returns the file's path."""
    text = "\n".join(_exchange_lines(config)) + "\n"
    path = BUILD / "exchange" / content_key(text) / "exchange.h"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _exchange_lines(config: FmsConfig) -> Iterator[str]:
    channels = range(config.geometry.channels)
    outward = list(_names(config, outward=True))
    inward = list(_names(config, outward=False))
    yield "// Generated from the ports of hub and channel: values between them."
    yield "#pragma once"
    yield f"constexpr int kChannels = {len(channels)};"
    yield '#include "step.h"'
    # Payloads change seldom, and wide ones are dear: they move only with their `valid`.
    yield "inline void to_channels(Vhub& hub, Vchannel* const* channels, bool* changed) {"
    for number in channels:
        yield from _copies(number, _valid_first(outward), into_channel=True)
    yield "}"
    yield "inline void from_channels(Vhub& hub, Vchannel* const* channels, bool& changed) {"
    for number in channels:
        yield from _copies(number, _valid_first(inward), into_channel=False)
        moves = f"channels[{number}]->read_chosen && channels[{number}]->read_valid"
        yield f"    if ({moves}) changed |= carry(hub.read_data, channels[{number}]->read_data);"
    yield "}"
    yield f"constexpr int kDies = {config.geometry.dies};"
    yield "inline void to_die(const Vchannel& channel, Vdie& die) {"
    for name in SHARED_PINS:
        yield f"    die.{_spelling(f'pins__{name}')} = channel.{_spelling(f'nand__{name}')};"
    yield "}"


def _names(config: FmsConfig, *, outward: bool) -> Iterator[str]:
    """Ports of the channel that the hub drives (`outward`), or that the channel drives."""
    for path, member, value in ChannelPorts(config).flatten(ChannelPorts(config).create()):
        if len(Value.cast(value)) and (member.flow is Out) == outward:
            yield "__".join(map(str, path))


def _valid_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (not name.endswith("__valid"), name))


def _copies(number: int, names: list[str], *, into_channel: bool) -> Iterator[str]:
    channel = f"channels[{number}]->"
    for name in names:
        at_channel = f"{channel}{_spelling(name)}"
        at_hub = f"hub.{_spelling(f'channels__{number}__{name}')}"
        target, source = (at_channel, at_hub) if into_channel else (at_hub, at_channel)
        guard = ""
        if name.endswith("__payload"):
            valid = name.removesuffix("payload") + "valid"
            guard = f"if ({channel}{_spelling(valid)}) "
        changed = f"changed[{number}]" if into_channel else "changed"
        yield f"    {guard}{changed} |= carry({target}, {source});"


def _spelling(name: str) -> str:
    """The member of a model's class that stands for port `name`."""
    return name.replace("__", "___05F")
