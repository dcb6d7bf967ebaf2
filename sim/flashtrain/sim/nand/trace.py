"""Events of the NAND side."""

from enum import IntEnum


class TraceKind(IntEnum):
    """Kinds of the events that the models report by `flashtrain_trace`.

    Their `start` and `stop` are clock cycles, the first and the last; `detail` depends on the kind.
    """

    SENSE = 0  # the planes, a bit each
    PROGRAM = 1  # the planes
    ERASE = 2  # the planes
    COMMAND = 3  # the last command byte of a command with its address
    DATA_IN = 4  # bytes
    DATA_OUT = 5  # bytes
    STATUS = 6  # the status byte
