"""A simulated board, whose serial line is a socket or a terminal of this machine."""
