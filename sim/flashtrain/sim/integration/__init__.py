"""Everything that an integrator gets: `flashtrain verilog` writes it."""
