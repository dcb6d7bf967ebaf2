"""Pads and clock of a board around the netlist of its design."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CLOCK = "clk25"
"""The board's oscillator."""

_LOWEST_VCO, _HIGHEST_VCO = 400, 800
"""MHz of the PLL's oscillator (Lattice FPGA-TN-02200, ECP5 sysCLOCK PLL, table of the parameters)."""


@dataclass(frozen=True)
class Pads:
    """The places of a board's pads, by the name of the port; those of a bus by its bits.

    sites: of each port. pulled_up: ports whose pads pull up. clock_mhz: of the oscillator.
    """

    sites: Mapping[str, tuple[str, ...]]
    pulled_up: frozenset[str]
    clock_mhz: int

    def constraints(self) -> str:
        """The file for nextpnr (LPF)."""
        lines = [f'FREQUENCY PORT "{CLOCK}" {self.clock_mhz} MHZ;']
        for port, sites in self.sites.items():
            pull = " PULLMODE=UP" if port in self.pulled_up else ""
            for number, site in enumerate(sites):
                name = f"{port}[{number}]" if len(sites) > 1 else port
                lines.append(f'LOCATE COMP "{name}" SITE "{site}";')
                lines.append(f'IOBUF PORT "{name}" IO_TYPE=LVCMOS33{pull};')
        return "\n".join(lines) + "\n"


def ulx3s_pads() -> Pads:
    """Radiona's ULX3S: places from `amaranth_boards`. The chip is on header J1, see docs/board.md."""
    # Late: only `make board` needs it.
    from amaranth_boards.ulx3s import ULX3S_85F_Platform

    resources = {(one.name, one.number): one for one in ULX3S_85F_Platform.resources}
    (header,) = (one for one in ULX3S_85F_Platform.connectors if one.name == "gpio")

    def pins(name: str, number: int = 0, part: str = "") -> tuple[str, ...]:
        ios = resources[name, number].ios
        if part:
            ios = next(io for io in ios if io.name == part).ios
        return tuple(ios[0].names)

    def gpio(*names: str) -> tuple[str, ...]:
        return tuple(header.mapping[name] for name in names)

    return Pads(
        sites={
            CLOCK: pins("clk25"),
            # The FPGA's input is the FTDI chip's output.
            "line_in": pins("uart", part="rx"),
            "line_out": pins("uart", part="tx"),
            "leds": tuple(pins("led", number)[0] for number in range(3)),
            "dq": gpio(*(f"{number}+" for number in range(8))),
            "ce_n": gpio("0-"),
            "cle": gpio("1-"),
            "ale": gpio("2-"),
            "we_n": gpio("3-"),
            "re_n": gpio("4-"),
            "wp_n": gpio("5-"),
            "rb_n": gpio("6-"),
        },
        pulled_up=frozenset({"rb_n", "line_in", "dq"}),
        clock_mhz=25,
    )


def add_pads(module: dict[str, Any], pads: Pads, clock_mhz: int) -> None:
    """Join the ports of a module of Yosys' JSON to pads and a PLL.

    `clk` and `locked` come from the PLL, `rst` is never high, and `dq_i`, `dq_o` and `dq_t` are one bus.
    """
    ports, cells = module["ports"], module["cells"]
    free = 1 + max(bit for net in module["netnames"].values() for bit in net["bits"] if isinstance(bit, int))
    (reset,) = ports.pop("rst")["bits"]
    for cell in cells.values():
        for pin, bits in cell["connections"].items():
            cell["connections"][pin] = ["0" if bit == reset else bit for bit in bits]
    (clock,), (locked,) = ports.pop("clk")["bits"], ports.pop("locked")["bits"]
    ports[CLOCK] = {"direction": "input", "bits": [free]}
    cells["pll"] = _pll(free, clock, locked, pads.clock_mhz, clock_mhz)
    free += 1
    inputs, outputs, floats = (ports.pop(f"dq_{name}")["bits"] for name in "iot")
    bus = list(range(free, free + len(inputs)))
    ports["dq"] = {"direction": "inout", "bits": bus}
    for number, (pad, i, o, t) in enumerate(zip(bus, inputs, outputs, floats, strict=True)):
        cells[f"dq_pad_{number}"] = {
            "hide_name": 0,
            "type": "TRELLIS_IO",
            "parameters": {"DIR": "BIDIR"},
            "attributes": {},
            "port_directions": {"B": "inout", "I": "input", "O": "output", "T": "input"},
            "connections": {"B": [pad], "I": [o], "O": [i], "T": [t]},
        }
    for name in (CLOCK, "dq"):
        module["netnames"][name] = {"hide_name": 0, "bits": ports[name]["bits"], "attributes": {}}


def _pll(oscillator: int, clock: int, locked: int, from_mhz: int, to_mhz: int) -> dict[str, Any]:
    """A PLL whose feedback is its output: a whole multiple of the oscillator."""
    multiple, rest = divmod(to_mhz, from_mhz)
    if rest:
        raise ValueError(f"the clock of {to_mhz} MHz is no multiple of the board's {from_mhz} MHz")
    divider = _HIGHEST_VCO * 3 // 4 // to_mhz
    assert _LOWEST_VCO <= divider * to_mhz <= _HIGHEST_VCO
    parameters = {
        "PLLRST_ENA": "DISABLED", "INTFB_WAKE": "DISABLED", "STDBY_ENABLE": "DISABLED",
        "DPHASE_SOURCE": "DISABLED", "OUTDIVIDER_MUXA": "DIVA", "OUTDIVIDER_MUXB": "DIVB",
        "OUTDIVIDER_MUXC": "DIVC", "OUTDIVIDER_MUXD": "DIVD", "CLKOP_ENABLE": "ENABLED",
        "FEEDBK_PATH": "CLKOP", **{
            name: f"{value:032b}" for name, value in (
                ("CLKI_DIV", 1), ("CLKOP_DIV", divider), ("CLKOP_CPHASE", divider // 2 - 1),
                ("CLKOP_FPHASE", 0), ("CLKFB_DIV", multiple),
            )
        },
    }  # fmt: skip
    low = {key: ["0"] for key in ("RST", "STDBY", "PHASESEL0", "PHASESEL1", "PLLWAKESYNC", "ENCLKOP")}
    high = {key: ["1"] for key in ("PHASEDIR", "PHASESTEP", "PHASELOADREG")}
    connections = {"CLKI": [oscillator], "CLKFB": [clock], "CLKOP": [clock], "LOCK": [locked], **low, **high}
    return {
        "hide_name": 0,
        "type": "EHXPLLL",
        "parameters": parameters,
        # Of the analogue filter, as Project Trellis' ecppll has them.
        "attributes": {
            "ICP_CURRENT": "12", "LPF_RESISTOR": "8", "MFG_ENABLE_FILTEROPAMP": "1", "MFG_GMCREF_SEL": "2",
        },
        "port_directions": {
            pin: "output" if pin in ("CLKOP", "LOCK") else "input" for pin in connections
        },
        "connections": connections,
    }  # fmt: skip
