"""Constraints of a whole system with the controller's wrapper at its top, for Vivado (XDC) and nextpnr (LPF).

They cover the clock domains and the reset. Places and voltages of pins depend on the board: the files show
them as comments.
"""

from flashtrain.rtl.clocks import Clocks

from .constraints import period


def _clocks(clocks: Clocks) -> dict[str, float]:
    """Frequencies in MHz by port."""
    ports = {"aclk": clocks.system_mhz}
    return ports | {"nand_clk": clocks.nand_mhz} if clocks.crosses else ports


def xdc(wrapper: str, name: str, clocks: Clocks) -> str:
    """For Vivado (UG903)."""
    ports = _clocks(clocks)
    created = "\n".join(
        f"create_clock -name {port} -period {period(mhz)} [get_ports {port}]" for port, mhz in ports.items()
    )
    crossing = ""
    if clocks.crosses:
        bound = period(max(ports.values()))
        pairs = (("aclk", "nand_clk"), ("nand_clk", "aclk"))
        delays = "\n".join(
            f"set_max_delay -datapath_only {bound} -from [get_clocks {start}] -to [get_clocks {end}]"
            for start, end in pairs
        )
        crossing = f"""
# Bits of Gray pointers arrive within the shorter period (flashtrain.sdc). -datapath_only leaves out the skew
# of the clocks, and the hold check.
{delays}
"""
    return f"""\
# A system with {wrapper} at its top, {name}, for Vivado. Generated: an example to start from.

{created}
{crossing}
# Its assertion has no clock; the release is synchronised inside.
set_false_path -from [get_ports aresetn]

# The board's:
# set_property -dict {{PACKAGE_PIN E3 IOSTANDARD LVCMOS18}} [get_ports aclk]
# set_input_delay and set_output_delay of the NAND pins are those of the PHY.
"""


def lpf(wrapper: str, name: str, clocks: Clocks) -> str:
    """For nextpnr and Diamond, an ECP5."""
    lines = "\n".join(f'FREQUENCY PORT "{port}" {mhz:g} MHZ;' for port, mhz in _clocks(clocks).items())
    return f"""\
# A system with {wrapper} at its top, {name}, for an ECP5. Generated: an example to start from.

{lines}

# Paths between the clocks are synchronised, and the release of the reset is, too.
BLOCK ASYNCPATHS;
BLOCK RESETPATHS;

# The board's:
# LOCATE COMP "aclk" SITE "P3";
# IOBUF PORT "aclk" IO_TYPE=LVCMOS33;
"""
