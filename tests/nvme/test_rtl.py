"""The same through the RTL, in which commands take their time."""

import random
import time

import pytest

from flashtrain.nvme.client.host import Host, data_command
from flashtrain.nvme.errors import CommandFailed
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Opcode, Status, ZoneAction, ZoneState
from tests.nvme.helpers import served, zones

BLOCK, ZONE = 512, 32


def test_commands_of_a_host_through_the_rtl(seed):
    """Data, refusals and resets; the event loop answers while a command is simulated; power is lost."""
    rng = random.Random(seed)
    with served("tiny", link=RtlLink) as target, target.host(queues=2) as host:
        data = rng.randbytes(8 * BLOCK)
        for zone in range(2):
            host.write(1, zone * ZONE, data)
        for number in range(16):
            host.io[number % 2].submit(
                data_command(Opcode.ZONE_APPEND, 1, number % 2 * ZONE, 1), data[:BLOCK]
            )
        longest = _longest_answer(host)
        for queue in host.io:
            while queue.in_flight or queue._completed:
                assert queue.wait_any().answer.status == 0
        assert host.read(1, 0, 16) == data + 8 * data[:BLOCK]
        assert longest < 1.0
        with pytest.raises(CommandFailed) as refused:
            host.write(1, 1, data[:BLOCK])
        assert (refused.value.status, refused.value.do_not_retry) == (Status.ZONE_INVALID_WRITE, True)
        host.manage(1, 0, ZoneAction.RESET)
        assert [state for state, _, _ in zones(host, count=2)] == [ZoneState.EMPTY, ZoneState.IMPLICITLY_OPEN]
        target.run(target.target.lose_power())
        with target.host() as again:
            assert again.read(1, ZONE, 8) == data
            assert again.read(1, 0, 1) == bytes(BLOCK)


def _longest_answer(host: Host) -> float:
    """The longest time, in seconds, of a keep alive while the device is simulated."""
    longest = 0.0
    for _ in range(20):
        before = time.monotonic()
        host.admin.execute(Entry(AdminOpcode.KEEP_ALIVE))
        longest = max(longest, time.monotonic() - before)
    return longest
