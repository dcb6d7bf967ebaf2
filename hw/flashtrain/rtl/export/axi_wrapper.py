"""The text of `flashtrain_axi`: the controller behind pins with conventional names (`export.pins`)."""

from collections.abc import Iterable, Sequence

from .clocks import Clocks
from .pins import Bundle, Pin, Protocol

TOP = "flashtrain_axi"

_HEADER = """\
// The controller behind conventional pins. Generated: do not edit.
//
// Tools group the pins by prefix: m_axi_data and m_axi_queue (AXI4), s_axil_regs (AXI4-Lite).
// All bursts are INCR and of full width, none crosses 4 KiB, and the only ID is 0.
"""
_ONE_CLOCK = """\
// One clock, that of the NAND interface: %d MHz.
"""
_TWO_CLOCKS = """\
// `aclk` is the clock of the AXI ports and of `irq`: %g MHz.
// `nand_clk` is the clock of the NAND interface: %d MHz.
// They need no relation: FIFOs cross between them (hw/flashtrain/rtl/lib/axi_crossing.py).
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


def axi_wrapper(bundles: Sequence[Bundle], clocks: Clocks) -> str:
    """The wrapper, with crossings if the AXI ports have a clock of their own."""
    axi = [bundle for bundle in bundles if bundle.protocol in _AXI]
    busses = ":".join(bundle.name for bundle in axi)
    associated = f'(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF {busses}, ASSOCIATED_RESET aresetn" *)'
    groups = [(f"{bundle.purpose}: {bundle.protocol.value}", bundle.pins) for bundle in bundles]
    pins = [pin for bundle in bundles for pin in bundle.pins]
    constants = "".join(f"  assign {pin.name} = {pin.constant};\n" for pin in pins if pin.constant)
    nand_clock = ""
    resets, crossings = reset_release("rst", "aclk"), ""
    # The signals at the controller's ports are the wrapper's pins, unless a crossing is in between.
    inner = {pin.port: pin.name for pin in pins if pin.port}
    if clocks.crosses:
        nand_clock = "    input  wire         nand_clk,\n"
        resets = reset_release("axi_rst", "aclk") + reset_release("rst", "nand_clk")
        crossings = "".join(_crossing(bundle) for bundle in axi) + _IRQ
        inner |= {pin.port: f"nand_{pin.name}" for bundle in axi for pin in bundle.pins if pin.port}
        inner["irq"] = "nand_irq"
    text = _TWO_CLOCKS % (clocks.axi_mhz, clocks.nand_mhz) if clocks.crosses else _ONE_CLOCK % clocks.nand_mhz
    return f"""\
{_HEADER}{text}{_RESET}
module {TOP} (
    {associated}
    input  wire         aclk,
    (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
    input  wire         aresetn,
{nand_clock}{port_list(groups)}
);
{resets}
{constants}{crossings}
  flashtrain controller (
      .clk({clocks.nand_port}),
      .rst(rst),
{connections(inner.items())}
  );
endmodule
"""


def crossing_module(bundle: Bundle) -> str:
    """The module between the clock domains of this bundle."""
    return f"flashtrain_{bundle.port}_crossing"


def _crossing(bundle: Bundle) -> str:
    """Wires in the NAND's clock, named after the pins, and the instance between."""
    managed = bundle.protocol is Protocol.AXI4_MANAGER
    pins = [pin for pin in bundle.pins if pin.port]
    wires = "\n".join(
        f"  wire {'' if pin.width == 1 else f'[{pin.width - 1}:0] '}nand_{pin.name};" for pin in pins
    )
    # The controller is the manager of its AXI4 ports, and the subordinate of the register port.
    sides = (
        (("manager", "nand_"), ("subordinate", ""))
        if managed
        else (("manager", ""), ("subordinate", "nand_"))
    )
    pairs = []
    for side, prefix in sides:
        inside = prefix == "nand_"
        pairs.append((f"{side}_clk", "nand_clk" if inside else "aclk"))
        pairs.append((f"{side}_rst", "rst" if inside else "axi_rst"))
        pairs += [
            (f"{side}__{pin.name.removeprefix(f'{bundle.name}_')}", f"{prefix}{pin.name}") for pin in pins
        ]
    return f"""
{wires}

  {crossing_module(bundle)} {bundle.port}_crossing (
{connections(pairs)}
  );
"""


_IRQ = """
  wire nand_irq;
  (* ASYNC_REG = "TRUE" *) reg [1:0] irq_stages = 2'b00;
  always @(posedge aclk)
    if (axi_rst) irq_stages <= 2'b00;
    else irq_stages <= {irq_stages[0], nand_irq};
  assign irq = irq_stages[1];
"""


def reset_release(name: str, clock: str) -> str:
    """A reset of a clock domain: it begins with `aresetn` and ends in step with the clock."""
    return f"""\
  (* ASYNC_REG = "TRUE" *) reg [1:0] {name}_release = 2'b00;
  always @(posedge {clock} or negedge aresetn)
    if (!aresetn) {name}_release <= 2'b00;
    else {name}_release <= {{{name}_release[0], 1'b1}};
  wire {name} = !{name}_release[1];
"""


_AXI = (Protocol.AXI4_MANAGER, Protocol.AXI4_LITE_SUBORDINATE)
