"""Area and clock of a component in an FPGA, by open tools."""
