"""The text of `flashtrain_sim`: the wrapper with dies, arrays and protocol checkers on its NAND pins."""

from collections.abc import Sequence

from flashtrain.rtl.export.axi_wrapper import connections, port_list, reset_release
from flashtrain.rtl.export.clocks import Clocks
from flashtrain.rtl.export.pins import Bundle, Pin, Protocol

TOP = "flashtrain_sim"


def sim_top(bundles: Sequence[Bundle], clocks: Clocks) -> str:
    """The pins are those of `flashtrain_axi` without the NAND, and `violations`."""
    outside = [bundle for bundle in bundles if bundle.protocol is not Protocol.NAND]
    nand = [bundle for bundle in bundles if bundle.protocol is Protocol.NAND]
    groups = [(f"{bundle.purpose}: {bundle.protocol.value}", bundle.pins) for bundle in outside]
    groups.append(
        ("breaches of the NAND protocol so far, by arrays and checkers", (Pin("violations", "output", 32),))
    )
    wires = "\n".join(_wires(bundle) for bundle in nand)
    packages = "\n".join(_packages(number, bundle, clocks) for number, bundle in enumerate(nand))
    joined = connections((pin.name, pin.name) for bundle in bundles for pin in bundle.pins)
    nand_clock = "    input  wire         nand_clk,\n" if clocks.crosses else ""
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

  flashtrain_axi device (
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


def _packages(number: int, bundle: Bundle, clocks: Clocks) -> str:
    pins = connections((pin.name.replace(f"{bundle.name}_", "bus__", 1), pin.name) for pin in bundle.pins)
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
"""
