"""The NAND bus of a channel: arbiter, command and address cycles, data beats, timing."""
