"""Timing constraints as SDC: clock domains, resets, and the divided clock of a die."""

from flashtrain.rtl.clocks import Clocks
from flashtrain.spec import FmsConfig


def controller_constraints(wrapper: str, name: str, clocks: Clocks) -> str:
    """Of the controller's wrapper."""
    return f"""\
# Clocks of {wrapper}, {name}. Generated: do not edit.
# Delays of the pins depend on the board and on the PHY, so they are not here.

create_clock -name aclk -period {period(clocks.system_mhz)} [get_ports aclk]
{_crossing(clocks) if clocks.crosses else ""}
# Both registers of a synchroniser take the release of the reset; its assertion has no clock.
set_false_path -from [get_ports aresetn]
"""


def _crossing(clocks: Clocks) -> str:
    bound = period(max(clocks.system_mhz, clocks.nand_mhz))
    return f"""\
create_clock -name nand_clk -period {period(clocks.nand_mhz)} [get_ports nand_clk]

# All paths between the clocks are Gray pointers, words of FIFOs, payloads that a bit announces, and single
# bits. A Gray pointer is right if its bits arrive within one period of the clock that they leave; a word and
# a payload are taken two edges after their pointer or bit. The shorter period is the bound of all.
# Vivado needs -datapath_only with each set_max_delay, or it counts the skew between the clocks, too.
# set_clock_groups -asynchronous would remove the bound, so it is not here.
set_max_delay {bound} -from [get_clocks aclk] -to [get_clocks nand_clk]
set_max_delay {bound} -from [get_clocks nand_clk] -to [get_clocks aclk]
set_false_path -hold -from [get_clocks aclk] -to [get_clocks nand_clk]
set_false_path -hold -from [get_clocks nand_clk] -to [get_clocks aclk]
"""


def die_constraints(config: FmsConfig) -> str:
    """Of `flashtrain_die`."""
    divider = config.update_divider
    return f"""\
# Clocks of flashtrain_die, {config.name}. Generated: do not edit.

create_clock -name clk -period {period(config.timing.clock_mhz)} [get_ports clk]

# The update unit has a divided clock, which stops between tiles. A register of the tile sequencer drives it:
# signal `clock` of instance updater.sequencer. The name of its pin is that of Vivado and Design Compiler.
create_generated_clock -name update -source [get_ports clk] -divide_by {divider} \\
    [get_pins updater/sequencer/clock_reg/Q]
"""


def period(mhz: float) -> str:
    """In nanoseconds, rounded down: a constraint is never weaker than the clock."""
    return f"{int(1_000_000 / mhz) / 1000:.3f}"
