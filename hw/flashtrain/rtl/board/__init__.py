"""A board: the controller with a tensor buffer in block memory, and a serial line to a host."""
