"""The serial bridge and the buffer memory of a board."""

from tests.mutation.fault import Fault

BRIDGE = "rtl/board/test_bridge.py::test_bridge"

BOARD = (
    Fault(
        "damaged-frame-performed",
        "board/frames.py",
        "self.whole.eq(check.match_detected & ~escaped),",
        "self.whole.eq(~escaped),",
        "a frame is performed whose CRC is wrong",
        BRIDGE,
    ),
    Fault(
        "sequence-ignored",
        "board/bridge.py",
        "& (before.sequence == request.sequence)",
        "& (request.sequence == request.sequence)",
        "a request of the same kind has the answer of the one before",
        BRIDGE,
    ),
    Fault(
        "change-without-a-write",
        "board/buffer_memory.py",
        "access.write & access.strobe.any()",
        "access.write",
        "a refused burst counts as a change",
        BRIDGE,
    ),
    Fault(
        "changes-are-kept",
        "board/buffer_memory.py",
        "set_bit.data.eq(~of_bridge),",
        "set_bit.data.eq(1),",
        "CHANGES names the same grains again",
        BRIDGE,
    ),
)
