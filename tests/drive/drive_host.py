"""The drive of `tiny` in RTL, with its firmware, before a host whose memory is bytes of this process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from flashtrain.drive.rtl_function import RtlFunction
from flashtrain.firmware import Firmware, firmware_tables
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import NODES, preset
from tests.nvme.pcie.root_complex import Memory, RootComplex

TINY = preset("tiny")
NODE = NODES["serve"]
SIZES = PcieSizes.of(TINY)


@asynccontextmanager
async def host_of(
    link: PcieLink, sizes: PcieSizes = SIZES, expected: Sequence[str] = ()
) -> AsyncIterator[RootComplex]:
    """A drive of `TINY` before a new memory. expected: the errors that it reports."""
    settings = SubsystemSettings(queues=sizes.queues, entries=sizes.entries)
    tables = firmware_tables(TINY, NODE, sizes.slots, sizes.most_bytes, settings, "0123456789abcdef")
    memory, errors = Memory(), []
    function = RtlFunction(
        link,
        memory,
        lambda mailbox, registers, pause: Firmware(mailbox, registers, tables, pause),
        errors.append,
    )
    yield RootComplex(function, memory, [])
    function.close()
    assert [str(error) for error in errors] == list(expected)
