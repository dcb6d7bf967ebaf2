"""Update lanes in Verilator."""
