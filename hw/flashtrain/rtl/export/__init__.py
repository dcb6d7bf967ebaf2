"""SystemVerilog of a design, its manifest, and what it is made of."""
