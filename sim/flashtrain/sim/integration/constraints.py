"""Timing constraints as SDC: clocks, resets, and the divided clock of a die."""

from flashtrain.spec import FmsConfig


def controller_constraints(config: FmsConfig) -> str:
    """Of `flashtrain_axi`."""
    return f"""\
# Clocks of flashtrain_axi, {config.name}. Generated: do not edit.
# Delays of the pins depend on the board and on the PHY, so they are not here.

create_clock -name aclk -period {period(config.timing.clock_mhz)} [get_ports aclk]

# Both registers of the synchroniser take the release of the reset; its assertion has no clock.
set_false_path -from [get_ports aresetn]
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
