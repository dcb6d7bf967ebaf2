"""The text of `flashtrain_sim`: the wrapper with dies, arrays and protocol checkers on its NAND pins."""

from collections.abc import Sequence

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.export.axi_wrapper import connections, port_list, reset_release
from flashtrain.rtl.export.pins import Bundle, Pin, Protocol

TOP = "flashtrain_sim"


def sim_top(wrapper: str, bundles: Sequence[Bundle], clocks: Clocks, phy: bool = False) -> str:
    """The pins are those of the wrapper without the NAND, and `violations`.

    phy: controller and packages are joined by ONFI's pins at double data rate; then there is `nand_clk90`, a
    quarter of a period behind the NAND's clock.
    """
    outside = [bundle for bundle in bundles if bundle.protocol is not Protocol.NAND]
    nand = [bundle for bundle in bundles if bundle.protocol is Protocol.NAND]
    groups = [(f"{bundle.purpose}: {bundle.protocol.value}", bundle.pins) for bundle in outside]
    groups.append(
        ("breaches of the NAND protocol so far, by arrays and checkers", (Pin("violations", "output", 32),))
    )
    wires = "\n".join(_wires(bundle) for bundle in nand)
    packages = "\n".join(_packages(number, bundle, clocks, phy) for number, bundle in enumerate(nand))
    joined = connections((pin.name, pin.name) for bundle in bundles for pin in bundle.pins)
    nand_clock = "    input  wire         nand_clk,\n" if clocks.crosses else ""
    if phy:
        nand_clock += "    input  wire         nand_clk90,\n"
    nand_connection = "      .nand_clk(nand_clk),\n" if clocks.crosses else ""
    total = " + ".join(f"violations{number}" for number in range(len(nand)))
    return f"""\
// The controller with the NAND packages of all channels, for simulation. Generated: do not edit.
//
// Each package has dies (flashtrain_die), models of their arrays (array.sv), and a checker of the protocol
// on the pins (checker.sv). A refusal is a line on the output and a count on `violations`.

module {TOP} (
    input  wire         aclk,
    input  wire         aresetn,
{nand_clock}{port_list(groups)}
);
{wires}

  {wrapper} device (
      .aclk(aclk),
      .aresetn(aresetn),
{nand_connection}{joined}
  );

  // A reset is a loss of power for the dies, too.
{reset_release("rst", clocks.nand_port)}
  // Stamps messages and events.
  reg [63:0] cycle = 64'd0;
  always @(posedge {clocks.nand_port}) cycle <= cycle + 64'd1;

{packages}
  assign violations = {total};
endmodule
"""


def _wires(bundle: Bundle) -> str:
    return "\n".join(
        f"  wire {'' if pin.width == 1 else f'[{pin.width - 1}:0] '}{pin.name};" for pin in bundle.pins
    )


def _packages(number: int, bundle: Bundle, clocks: Clocks, phy: bool) -> str:
    prefix = f"dies{number}_" if phy else f"{bundle.name}_"
    pins = connections(
        (pin.name.replace(f"{bundle.name}_", "bus__", 1), pin.name.replace(f"{bundle.name}_", prefix, 1))
        for pin in bundle.pins
    )
    return f"""\
  wire [31:0] violations{number};
  flashtrain_nand_channel packages{number} (
      .clk({clocks.nand_port}),
      .rst(rst),
      .cycle(cycle),
      .channel(8'd{number}),
      .violations(violations{number}),
{pins}
  );
{_phy(number, bundle, clocks) if phy else ""}"""


_DRIVEN = ("ce_n", "cle", "ale", "we_n", "re_n")
"""Pins that only the controller drives."""


def _phy(number: int, bundle: Bundle, clocks: Clocks) -> str:
    """Both PHYs of a channel, and the pins between them."""
    widths = {pin.name.removeprefix(f"{bundle.name}_"): pin.width for pin in bundle.pins}
    dies = widths["ce_n"]
    pins = f"pins{number}_"

    def wire(name: str, width: int = 1) -> str:
        return f"  wire {'' if width == 1 else f'[{width - 1}:0] '}{name};"

    wires = [wire(f"dies{number}_{name}", width) for name, width in widths.items()]
    wires += [wire(f"{pins}{name}", dies if name == "ce_n" else 1) for name in _DRIVEN]
    wires.append(wire(f"{pins}rb_n", dies))
    wires += [wire(f"{pins}{side}_{name}", width) for side in ("host", "die")
              for name, width in (("oe", 1), ("dqs", 1), ("dq", 8))]  # fmt: skip
    views = {
        "flashtrain_phy": (f"{bundle.name}_", "host", [("clk90", "nand_clk90")]),
        "flashtrain_die_phy": (f"dies{number}_", "die", []),
    }
    instances = []
    for module, (view, side, more) in views.items():
        other = "die" if side == "host" else "host"
        pairs = [("clk", clocks.nand_port), ("rst", "rst"), *more]
        pairs += [(name, f"{view}{name}") for name in widths]
        pairs += [(f"pin_{name}", f"{pins}{name}") for name in (*_DRIVEN, "rb_n")]
        pairs += [("pin_oe", f"{pins}{side}_oe")]
        pairs += [(f"pin_{name}_o", f"{pins}{side}_{name}") for name in ("dq", "dqs")]
        pairs += [(f"pin_{name}_i", f"{pins}{other}_{name}") for name in ("dq", "dqs")]
        name = f"{module.removeprefix('flashtrain_')}{number}"
        instances.append(f"  {module} #(.DIES({dies})) {name} (\n{connections(pairs)}\n  );")
    contention = f"""\
  always @(posedge {clocks.nand_port})
    if ({pins}host_oe && {pins}die_oe) begin
      $display("channel {number}: controller and die drive DQ at the same time");
      $fatal(1);
    end
"""
    return "\n".join([*wires, *instances, contention])
