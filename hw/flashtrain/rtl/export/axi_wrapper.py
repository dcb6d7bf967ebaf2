"""The text of the wrappers: the controller, or a drive, behind pins with conventional names.

`flashtrain_axi` has the pins of `export.pins`, and `flashtrain_nvme` those of `export.drive_pins`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from flashtrain.rtl.clocks import Clocks

from .pins import Bundle, Pin, Protocol
from .synchronisers import attribute_text


@dataclass(frozen=True)
class Wrapping:
    """A wrapper: its name, the module inside, and the comment at its head."""

    top: str
    module: str
    header: str


_HEADER = """\
// The controller behind conventional pins. Generated: do not edit.
//
// Tools group the pins by prefix: m_axi_data and m_axi_queue (AXI4), s_axil_regs (AXI4-Lite).
// All bursts are INCR and of full width, none crosses 4 KiB, and the only ID is 0.
"""
_DRIVE_HEADER = """\
// A drive on PCI Express behind conventional pins. Generated: do not edit.
//
// A hard block of PCI Express has m_tlp_*, s_tlp_*, s_bar, m_bar and function (docs/pcie.md). Firmware has
// s_mailbox, m_mailbox and s_axil_regs (AXI4-Lite).
"""
CONTROLLER = Wrapping("flashtrain_axi", "flashtrain", _HEADER)
DRIVE = Wrapping("flashtrain_nvme", "flashtrain_drive", _DRIVE_HEADER)

_ONE_CLOCK = """\
// One clock, that of the NAND interface: %d MHz.
"""
_TWO_CLOCKS = """\
// `aclk` is the clock of the AXI ports, of `irq` and of the front end: %g MHz.
// `nand_clk` is the clock of the NAND interface and of the channel engines: %d MHz.
// They need no relation: the channels' streams cross between them (hw/flashtrain/rtl/crossing).
"""
_RESET = """\
// `aresetn` is active low. It may fall at any time, for three cycles of the slower clock at least. The inner
// resets are synchronous, and end two cycles of their clock after it has risen.
"""


def declared(pin: Pin, columns: int = 7) -> str:
    """The pin as an entry of a module's list of ports."""
    width = "" if pin.width == 1 else f"[{pin.width - 1}:0]"
    return f"{pin.direction:6} wire {width:{columns}} {pin.name}"


def port_list(groups: Iterable[tuple[str, Sequence[Pin]]]) -> str:
    """A module's list of ports, with a comment over each group."""
    entries = [(comment, [declared(pin) for pin in pins]) for comment, pins in groups]
    last = entries[-1][1][-1]
    lines = []
    for comment, pins in entries:
        lines.append(f"    // {comment}")
        lines += [f"    {pin}{'' if pin is last else ','}" for pin in pins]
    return "\n".join(lines)


def connections(pairs: Iterable[tuple[str, str]]) -> str:
    """Named connections of an instance."""
    return ",\n".join(f"      .{port}({signal})" for port, signal in pairs)


def wrapper(wrapping: Wrapping, bundles: Sequence[Bundle], clocks: Clocks) -> str:
    """The text of a wrapper with these pins."""
    axi = [bundle for bundle in bundles if bundle.protocol in _AXI]
    busses = ":".join(bundle.name for bundle in axi)
    associated = f'(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF {busses}, ASSOCIATED_RESET aresetn" *)'
    groups = [(f"{bundle.purpose}: {bundle.protocol.value}", bundle.pins) for bundle in bundles]
    pins = [pin for bundle in bundles for pin in bundle.pins]
    constants = "".join(f"  assign {pin.name} = {pin.constant};\n" for pin in pins if pin.constant)
    nand_clock, resets = "", reset_release("rst", "aclk")
    inner = [("clk", "aclk"), ("rst", "rst")]
    if clocks.crosses:
        nand_clock = "    input  wire         nand_clk,\n"
        resets += reset_release("nand_rst", "nand_clk")
        inner += [("nand_clk", "nand_clk"), ("nand_rst", "nand_rst")]
    inner += [(port, _joined(names)) for port, names in groupby(pins, lambda pin: pin.port) if port]
    text = (
        _TWO_CLOCKS % (clocks.system_mhz, clocks.nand_mhz) if clocks.crosses else _ONE_CLOCK % clocks.nand_mhz
    )
    return f"""\
{wrapping.header}{text}{_RESET}
module {wrapping.top} (
    {associated}
    input  wire         aclk,
    (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
    input  wire         aresetn,
{nand_clock}{port_list(groups)}
);
{resets}
{constants}
  {wrapping.module} controller (
{connections(inner)}
  );
endmodule
"""


def _joined(pins: Iterable[Pin]) -> str:
    """The pins of a port, its lowest bit first."""
    names = [pin.name for pin in pins]
    return names[0] if len(names) == 1 else f"{{{', '.join(reversed(names))}}}"


def reset_release(name: str, clock: str) -> str:
    """A reset of a clock domain: it begins with `aresetn` and ends in step with the clock."""
    return f"""\
  {attribute_text()}
  reg [1:0] {name}_release = 2'b00;
  always @(posedge {clock} or negedge aresetn)
    if (!aresetn) {name}_release <= 2'b00;
    else {name}_release <= {{{name}_release[0], 1'b1}};
  wire {name} = !{name}_release[1];
"""


_AXI = (Protocol.AXI4_MANAGER, Protocol.AXI4_LITE_SUBORDINATE)
