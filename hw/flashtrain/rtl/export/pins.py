"""The pins of the wrapper `flashtrain_axi`: AXI4 and AXI4-Lite with the names that tools group by prefix.

Each pin is that of a port of the controller, or has the constant value that AXI gives to what a manager
leaves out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from amaranth.hdl import Shape
from amaranth.lib import wiring

from flashtrain.rtl.lib.axi import Axi4LiteSignature, Axi4Signature
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS


class Protocol(Enum):
    """The interface of a bundle, seen from the wrapper."""

    AXI4_MANAGER = "AXI4 manager"
    AXI4_LITE_SUBORDINATE = "AXI4-Lite subordinate"
    INTERRUPT = "interrupt, a level, active high"
    STREAM = "stream with `valid` and `ready`"
    LEVELS = "levels"
    NAND = "NAND bus, one sample per cycle of the NV-DDR3 interface"


@dataclass(frozen=True)
class Pin:
    """A pin of the wrapper: that of a `port` of the module inside, or `constant`.

    Several pins of one port follow each other, from its lowest bit on.
    """

    name: str
    direction: str
    width: int
    port: str | None = None
    constant: str | None = None


@dataclass(frozen=True)
class Bundle:
    """Pins with a common prefix, of one interface. `port` is the prefix of the ports behind them."""

    name: str
    protocol: Protocol
    purpose: str
    port: str
    pins: tuple[Pin, ...]


MANAGER_CONSTANTS = (
    ("lock", 1, "1'b0"),  # normal access
    ("cache", 4, "4'b0011"),  # normal memory, not cacheable, bufferable
    ("prot", 3, "3'b000"),  # data, secure, unprivileged
    ("qos", 4, "4'b0000"),  # no scheme
)
"""Of both address channels: what the controller does not drive, since it is always the same."""


def axi_signatures(config: FmsConfig) -> dict[str, Axi4Signature | Axi4LiteSignature]:
    """Of the controller's AXI ports, as their managers see them."""
    return {
        "data": Axi4Signature(address_bits=config.address_bits, data_bits=8 * config.data_bytes),
        "queue": Axi4Signature(address_bits=config.address_bits, data_bits=64),
        "registers": Axi4LiteSignature(address_bits=ADDRESS_BITS),
    }


def bundles(config: FmsConfig) -> list[Bundle]:
    """The interfaces of the wrapper, but for clock and reset."""
    axi = axi_signatures(config)
    return [
        _manager("data", axi["data"], "pages, from and to the tensor buffer"),
        _manager("queue", axi["queue"], "submission and completion entries, zone reports"),
        register_bundle(axi["registers"]),
        Bundle(
            "irq",
            Protocol.INTERRUPT,
            "completions were written",
            "irq",
            (Pin("irq", "output", 1, "irq"),),
        ),
        *nand_bundles(config),
    ]


def register_bundle(signature: wiring.Signature) -> Bundle:
    """The register map, of a controller alone or of a drive."""
    return Bundle(
        "s_axil_regs",
        Protocol.AXI4_LITE_SUBORDINATE,
        "the register map (docs/reference/contract.md)",
        "registers",
        tuple(map(_reversed, _pins("s_axil_regs_", "registers__", signature))),
    )


def nand_bundles(config: FmsConfig) -> Iterator[Bundle]:
    """A bus for each channel."""
    nand = nand_bus(config)
    for channel in range(config.geometry.channels):
        yield Bundle(
            f"nand{channel}",
            Protocol.NAND,
            f"channel {channel} (hw/flashtrain/rtl/nand_bus.py)",
            f"nand__{channel}",
            tuple(_pins(f"nand{channel}_", f"nand__{channel}__", nand)),
        )


def _manager(port: str, signature: wiring.Signature, purpose: str) -> Bundle:
    prefix = f"m_axi_{port}"
    pins: list[Pin] = []
    for pin in _pins(f"{prefix}_", f"{port}__", signature):
        pins.append(pin)
        channel = pin.name.removeprefix(f"{prefix}_").removesuffix("burst")
        if pin.name.endswith("burst"):
            pins += [
                Pin(f"{prefix}_{channel}{name}", "output", width, constant=value)
                for name, width, value in MANAGER_CONSTANTS
            ]
    return Bundle(prefix, Protocol.AXI4_MANAGER, purpose, port, tuple(pins))


def _reversed(pin: Pin) -> Pin:
    return replace(pin, direction="input" if pin.direction == "output" else "output")


def _pins(prefix: str, port: str, signature: wiring.Signature) -> Iterator[Pin]:
    for name, member in signature.members.items():
        direction = "output" if member.flow == wiring.Out else "input"
        yield Pin(f"{prefix}{name}", direction, Shape.cast(member.shape).width, f"{port}{name}")
