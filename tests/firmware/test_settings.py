"""Features of interrupts and of arbitration reach the front end, and so do priorities of queues."""

import asyncio

from flashtrain.firmware import firmware_tables
from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import preset
from flashtrain.spec.pcie import Mailbox, Priority
from flashtrain.spec.streams import NODES
from tests.nvme.pcie.root_complex import Memory, RootComplex, entry

from .front_end import FirmwareFunction

SETTINGS = SubsystemSettings(queues=4, entries=64)
TABLES = firmware_tables(preset("tiny"), NODES["objects"], 64, 1 << 20, SETTINGS, "interrupts")


def test_what_a_host_sets_is_written_to_the_mailbox():
    async def body() -> None:
        memory = Memory()
        function = FirmwareFunction(memory, TABLES)
        host = RootComplex(function, memory, [])
        await host.enable()

        async def change(feature: Feature, value: int) -> int:
            answer = await host.execute(0, entry(AdminOpcode.SET_FEATURES, 1, dwords=(feature, value)))
            return answer.status

        assert not await change(Feature.INTERRUPT_COALESCING, 0xABCD_1234)  # the upper half is reserved
        assert not await change(Feature.INTERRUPT_VECTOR, 0xFFFF_0003)
        assert not await change(Feature.INTERRUPT_VECTOR, 3)
        assert await change(Feature.INTERRUPT_VECTOR, 5) == TargetStatus.INVALID_FIELD
        assert not await change(Feature.ASYNC_EVENTS, 1)
        assert not await change(Feature.ARBITRATION, 0x0302_01FF)
        assert function.front_end.settings == [
            (Mailbox.AGGREGATION, 0x1234), (Mailbox.VECTOR, 1 << 16 | 3), (Mailbox.VECTOR, 3),
            (Mailbox.ARBITRATION, 0x0302_0107),
        ]  # fmt: skip
        for number, priority in ((1, Priority.LOW), (2, Priority.URGENT)):
            await host.create(number, priority=priority)
            assert function.front_end.submissions[number].priority == priority

    asyncio.run(body())
