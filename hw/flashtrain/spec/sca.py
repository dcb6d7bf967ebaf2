"""Packets of SCA, the bus of commands beside the data; `spec.chips` has their sources.

A cycle of CA_CLK brings four bits: two of CA[1:0] at each of its edges, those of the rising edge in the
lower half. A packet has a header, a cycle, and a body, two more, the lower half first. The header of a STATUS
has no body. A cycle turns the bus. In four more the die sends its status, two bits in each, the lowest first.

The values of headers are assumptions, because those of JESD230G are not public.
"""

from enum import IntEnum

END_OF_ADDRESS = 0x12
"""The command that ends the address of a program; its data may come from then on."""

PACKET_CYCLES = 3
"""Cycles of CA_CLK of a packet."""

PACKET_CLOCKS = 6
"""Cycles of the clock that a packet lasts at least: two in a cycle of CA_CLK, in which a die answers."""

STATUS_CYCLES = 6
"""The same of a status: its header, the turn of the bus, four pairs of bits."""


class Header(IntEnum):
    """Kinds of packets."""

    COMMAND = 0
    ADDRESS = 1
    STATUS = 2
    DATA_BEGIN = 4  # SCE: the die takes or sends data from now on
    DATA_END = 5  # SCT
