"""Frames of a board's serial bridge: requests of the host, and the bridge's answers.

The line has eight bits, no parity and one stop bit. A frame stands between two flags. Its last four bytes are
a CRC-32 of all before them. Inside it a flag or an escape becomes an escape and the byte with bit 5
inverted (RFC 1662, sections 4.1, 4.2, C.3). Numbers are little endian.

- A request: operation 1, sequence 1, words 2, address 4 bytes, data.
- An answer: operation 1, sequence 1, status 1, flags 1, cycles of the bridge's clock 6 bytes, data.

A request with the sequence and operation of the one before is the same one: the bridge repeats its answer and
performs nothing. A damaged frame has no answer.
"""

from enum import IntEnum, IntFlag

FLAG, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
"""RFC 1662, section 4.2."""

REQUEST_HEADER, ANSWER_HEADER, CHECK_BYTES = 8, 10, 4
CYCLE_BITS = 48
"""Of the counter of cycles in an answer."""

WORD_BYTES = 8
"""Bytes of a word of the tensor buffer. A request names its first byte, and how many words."""

MOST_DATA = 512
"""Bytes of data in a frame, at most."""

GRAIN_BYTES = 64
"""Bytes of the tensor buffer for which the board remembers, in a bit, that the controller has written."""
CHANGES_BYTES = GRAIN_BYTES * 8 * WORD_BYTES
"""Bytes whose grains take a word of CHANGES."""

MAGIC = int.from_bytes(b"FTSB", "little")
VERSION = 1


class Operation(IntEnum):
    """`words` is 0 for registers, and with `address` for OPEN."""

    OPEN = 0
    """Begin: the next request is new whatever its sequence. Data: MAGIC, VERSION, bytes of the tensor buffer,
    hertz of the clock, 32 bits each."""
    READ = 1
    """A register of 4 bytes."""
    WRITE = 2
    """A register, with data of 4 bytes."""
    LOAD = 3
    """Words of the tensor buffer, up to MOST_DATA."""
    STORE = 4
    """Words to the tensor buffer, up to MOST_DATA."""
    FILL = 5
    """Data: a word, to which words of the tensor buffer are set."""
    CHANGES = 6
    """The grains that the controller has written since the last CHANGES, a bit for each, 64 in a word; the
    bits are cleared. Address and bytes: multiples of CHANGES_BYTES; the bits have room in an answer."""


class Status(IntEnum):
    DONE = 0
    REFUSED = 1
    """AXI answers the access to a register with SLVERR."""
    BAD = 2
    """No such operation, or address, words or number of bytes out of range."""


class Flags(IntFlag):
    INTERRUPT = 1
    """`irq` is high."""
    CHANGED = 2
    """The controller has written to the tensor buffer since the last CHANGES from address 0."""


OPEN_DATA = 16
"""Bytes of data of the answer to OPEN."""
