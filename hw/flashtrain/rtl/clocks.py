"""Clock frequencies of a controller: one for all, or one for the front end and one for the channels."""

from dataclasses import dataclass
from math import isfinite

from flashtrain.spec.errors import ConfigError

LEAST_MHZ, MOST_MHZ = 1, 5_000
"""Of a system clock. The sample bench has a resolution of 1 ps: above, its period would be wrong by 1 %."""


@dataclass(frozen=True)
class Clocks:
    """Frequencies in MHz: of the NAND's interface, and of the front end if it has a clock of its own.

    Raises `ConfigError` for a system clock outside of `LEAST_MHZ` to `MOST_MHZ`.
    """

    nand_mhz: int
    own_system_mhz: float | None = None

    def __post_init__(self) -> None:
        own = self.own_system_mhz
        if own is not None and not (isfinite(own) and LEAST_MHZ <= own <= MOST_MHZ):
            raise ConfigError(f"system clock: {own:g} MHz; expected {LEAST_MHZ} to {MOST_MHZ:,} MHz")

    @property
    def crosses(self) -> bool:
        """Whether front end and AXI ports have a clock of their own."""
        return self.own_system_mhz is not None

    @property
    def system_mhz(self) -> float:
        """Of the front end and the AXI ports."""
        return self.nand_mhz if self.own_system_mhz is None else self.own_system_mhz

    @property
    def nand_port(self) -> str:
        """The wrapper's port of the NAND's clock."""
        return "nand_clk" if self.crosses else "aclk"
