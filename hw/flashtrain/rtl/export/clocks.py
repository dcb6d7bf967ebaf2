"""The clock domains of an export: one, or one for the AXI ports and one for the NAND interface."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Clocks:
    """Frequencies in MHz. `system_mhz` is that of the AXI ports; without it they are in the NAND's clock."""

    nand_mhz: int
    system_mhz: float | None = None

    @property
    def crosses(self) -> bool:
        """Whether the AXI ports have a clock of their own."""
        return self.system_mhz is not None

    @property
    def axi_mhz(self) -> float:
        """Of `aclk`."""
        return self.nand_mhz if self.system_mhz is None else self.system_mhz

    @property
    def nand_port(self) -> str:
        """The port of the NAND's clock."""
        return "nand_clk" if self.crosses else "aclk"
