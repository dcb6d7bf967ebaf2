"""Zone management and reports by a host."""

import asyncio
import threading

import pytest

from flashtrain.host import open_device
from flashtrain.nvme.client.host import data_command
from flashtrain.nvme.errors import CommandFailed
from flashtrain.nvme.wire.commands import Entry
from flashtrain.spec import Opcode, Port, Status, ZoneAction, ZoneState
from tests.nvme.helpers import BLOCK, ZONE, served, serving, zones

OFFLINE = 0x05


def test_actions(host):
    def state() -> int:
        return zones(host)[1][0]

    for action, after in (
        (ZoneAction.OPEN, ZoneState.EXPLICITLY_OPEN),
        (ZoneAction.CLOSE, ZoneState.CLOSED),
        (ZoneAction.FINISH, ZoneState.FULL),
        (ZoneAction.RESET, ZoneState.EMPTY),
    ):
        host.manage(1, ZONE, action)
        assert state() == after
    host.append(1, ZONE, bytes(3 * BLOCK))
    assert zones(host)[1] == (ZoneState.IMPLICITLY_OPEN, ZONE, ZONE + 3)


def test_a_report_from_any_block_on_with_any_filter(host):
    host.write(1, 0, bytes(BLOCK))
    host.manage(1, ZONE, ZoneAction.OPEN)
    host.manage(1, 2 * ZONE, ZoneAction.FINISH)
    host.write(1, 3 * ZONE, bytes(BLOCK))
    host.manage(1, 3 * ZONE, ZoneAction.CLOSE)
    for option, expected in ((1, 26), (2, 1), (3, 1), (4, 1), (5, 1), (6, 0), (7, 0), (0, 30)):
        listed = zones(host, option=option)
        assert len(listed) == expected
        whole = host.report(1, 0, 64, option, partial=False)
        assert int.from_bytes(whole[:8], "little") == expected
        assert int.from_bytes(host.report(1, 0, 64, option)[:8], "little") == 0
    assert [start for _, start, _ in zones(host, lba=5 * ZONE + 77)] == [ZONE * n for n in range(5, 30)]
    with pytest.raises(CommandFailed) as refused:
        zones(host, option=8)
    assert refused.value.status == Status.INVALID_FIELD
    with pytest.raises(CommandFailed) as refused:
        zones(host, lba=30 * ZONE)
    assert refused.value.status == Status.LBA_OUT_OF_RANGE


def test_a_report_is_cut_where_the_host_says(host):
    whole = host.report(1, 0, 64 * 31)
    assert host.report(1, 0, 200)[64:] == whole[64:192] + bytes(8)  # whole descriptors only
    assert host.report(1, 0, 100)[:64] == (0).to_bytes(64, "little")
    assert host.report(1, 0, 4) == bytes(4)


@pytest.mark.parametrize(
    "lba, action, status",
    [
        (1, ZoneAction.RESET, Status.INVALID_FIELD),
        (30 * ZONE, ZoneAction.RESET, Status.LBA_OUT_OF_RANGE),
        (0, ZoneAction.CLOSE, Status.INVALID_ZONE_TRANSITION),
        (0, OFFLINE, Status.INVALID_ZONE_TRANSITION),
        (1, OFFLINE, Status.INVALID_FIELD),
        (30 * ZONE, OFFLINE, Status.LBA_OUT_OF_RANGE),
        (0, 0x10, Status.INVALID_FIELD),
        (0, 0x77, Status.INVALID_FIELD),
    ],
)
def test_refused_actions(host, lba, action, status):
    with pytest.raises(CommandFailed) as refused:
        host.manage(1, lba, action)
    assert (refused.value.status, refused.value.do_not_retry) == (status, True)


def test_a_retired_zone_is_an_event_and_goes_offline():
    """The host that asked for it learns of the zone by an event and its log page."""
    from flashtrain.nvme.wire.commands import AdminOpcode, Entry

    with served() as target, target.host() as host:
        host.set_feature(0x0B, 1 << 27)
        request = host.admin.submit(Entry(AdminOpcode.ASYNC_EVENT_REQUEST))
        host.write(1, 0, bytes(BLOCK))

        def retire(device) -> None:
            device.stream("storage", Port.HOST).retire_zone(0, ZoneState.READ_ONLY)

        target.run(target.target.subsystem.thread.ask(retire))
        with pytest.raises(CommandFailed) as refused:
            host.write(1, 1, bytes(BLOCK))
        assert refused.value.status == Status.ZONE_IS_READ_ONLY
        assert host.admin.wait(request).answer.result == 0xBF_EF_02
        page = host.log_page(0xBF, 4096, nsid=1)
        assert page[:2] == b"\1\0" and page[8:16] == bytes(8)
        assert host.log_page(0xBF, 4096, nsid=1)[:2] == bytes(2)
        host.manage(1, 0, OFFLINE)
        host.manage(1, 0, OFFLINE, every=True)
        assert zones(host)[0][0] == ZoneState.OFFLINE


def test_rights_are_those_of_the_device():
    """The hardware refuses what the host may not do; streams of the driver are no namespaces."""
    with served(node="single") as target, target.host() as host:
        assert host.identify(2)[:20] == b"".join(n.to_bytes(4, "little") for n in (1, 3, 0, 0, 0))
        host.append(1, 0, bytes(BLOCK))
        for refused in (
            lambda: host.read(1, 0, 1),
            lambda: host.write(3, 0, bytes(BLOCK)),
            lambda: host.manage(3, 0, ZoneAction.RESET),
            lambda: host.manage(3, 0, ZoneAction.RESET, every=True),
        ):
            with pytest.raises(CommandFailed) as error:
                refused()
            assert error.value.status == Status.ACCESS_DENIED
        # Streams 2 and 4 have no rights for hosts, which may not write stream 3.
        assert [host.identify(0, nsid=nsid)[99] for nsid in (1, 3)] == [0, 1]
        assert host.identify(8, nsid=3)[9] == 1
        assert not any(host.identify(0, nsid=2))
        answers = host.io[0].execute_all([Entry(op, nsid=2) for op in (Opcode.FLUSH, Opcode.READ)], 1)
        assert [one.answer.status for one in answers] == [0x002, 0x002]
        with pytest.raises(CommandFailed) as error:
            host.read(8, 0, 1)
        assert error.value.status == Status.INVALID_NAMESPACE
        with pytest.raises(CommandFailed) as error:
            host.read(5, 0, 1)
        assert error.value.status == Status.INVALID_NAMESPACE


def test_a_reset_survives_a_loss_of_power():
    with served() as target:
        with target.host() as host:
            host.write(1, 0, b"a" * BLOCK)
            host.write(1, ZONE, b"b" * BLOCK)
            host.manage(1, 0, ZoneAction.RESET)
        target.run(target.target.lose_power())
        with target.host() as host:
            assert zones(host)[0] == (ZoneState.EMPTY, 0, 0)
            assert host.read(1, 0, 1) == bytes(BLOCK)
            assert host.read(1, ZONE, 1) == b"b" * BLOCK
            host.manage(1, 0, ZoneAction.RESET, every=True)
        target.run(target.target.lose_power())
        with target.host() as host:
            assert host.read(1, ZONE, 1) == bytes(BLOCK)


def test_a_loss_of_power_ends_the_connections():
    from flashtrain.nvme.errors import ProtocolError

    with served() as target:
        host = target.host()
        target.run(target.target.lose_power())
        with pytest.raises((ProtocolError, OSError)):
            host.read(1, 0, 1)
        host.close()
        with target.host() as again:
            assert again.log_page(2, 512)[144] == 1  # unsafe shutdowns


def test_an_orderly_end_keeps_zones_open_to_appends():
    with served() as target:
        with target.host() as host:
            host.write(1, 0, b"a" * BLOCK)
            host.write(1, ZONE, b"b" * BLOCK)
            host.shutdown()
        target.run(target.target.lose_power())
        with target.host() as host:
            assert [state for state, _, _ in zones(host)[:2]] == [ZoneState.CLOSED] * 2
            host.write(1, 1, b"c" * BLOCK)
            assert host.read(1, 0, 2) == b"a" * BLOCK + b"c" * BLOCK
            host.shutdown()
            host.set_property(0x14, 0)
            host.set_property(0x14, 0x0046_0061)
        with target.host() as host:
            host.write(1, 2, b"d" * BLOCK)  # the end was not the last: the next recovery must not trust it
        target.run(target.target.lose_power())
        with target.host() as host:
            assert zones(host)[0][0] == ZoneState.FULL
            assert host.read(1, 0, 3) == b"a" * BLOCK + b"c" * BLOCK + b"d" * BLOCK


def test_a_disabled_controller_loses_nothing():
    with served() as target, target.host() as host:
        host.write(1, 0, b"a" * BLOCK)
        host.set_property(0x14, 0)
        assert host.get_property(0x1C) == 0
        host.set_property(0x14, 0x0046_0061)
        assert host.get_property(0x1C) == 1
        with target.host() as other:
            assert other.read(1, 0, 1) == b"a" * BLOCK


def test_the_end_of_a_target_leaves_the_device_in_order():
    with open_device("small", node="serve") as device:
        with serving(device) as target, target.host() as host:
            host.write(1, 0, b"a" * BLOCK)
        assert device.stream("storage", Port.HOST).read_blocks(0, 1).tobytes() == b"a" * BLOCK
        device.shutdown()


def test_a_command_without_an_answer_may_come_again():
    """The power fails before the device has answered: what the host sends again was not refused before."""
    with served() as target:
        host = target.host()
        subsystem = target.target.subsystem

        async def cut() -> None:
            # The device's thread is held, so that the command is in flight while the connection ends.
            held = threading.Event()
            subsystem.thread.call(lambda device: held.wait(10))
            host.io[0].submit(data_command(Opcode.WRITE, 1, 77, 1), bytes(BLOCK))
            await asyncio.sleep(0.1)
            target.target.end_connections()
            await asyncio.sleep(0.1)
            held.set()
            await subsystem.thread.ask(lambda device: None)

        target.run(cut())
        host.close()
        with target.host() as again:
            for count, repeated in ((1, 0), (2, 1)):
                answer = again.io[0].execute(data_command(Opcode.WRITE, 1, 77, 1), bytes(BLOCK)).answer
                assert answer.status == Status.ZONE_INVALID_WRITE
                assert (subsystem.refusals.count, subsystem.refusals.repeated) == (count, repeated)
