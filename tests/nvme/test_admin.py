"""Identify, log pages, features, events and keep alive."""

import socket
import struct
import time

import pytest

from flashtrain.host import open_device
from flashtrain.nvme.client.fabrics import connect_command, fabrics
from flashtrain.nvme.client.host import DEFAULT_HOST, Host
from flashtrain.nvme.client.queue import ClientQueue
from flashtrain.nvme.errors import CommandFailed, ProtocolError
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN, DISCOVERY_NQN
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, FabricsType
from flashtrain.nvme.wire.stream_note import HEADER_BYTES, PAGE, parse_note
from tests.nvme.helpers import BLOCK, ZONE, served, serving


def test_controllers_are_listed_while_they_are_connected():
    """Identify, CNS 13h, from the number in CDW10 on."""
    with served("tiny") as target, target.host() as one, target.host() as other:
        assert one.controllers() == other.controllers() == {one.controller, other.controller}
        above = one.identify(0x13 | max(one.controller, other.controller) << 16)
        assert above[:6] == struct.pack("<HHH", 1, max(one.controller, other.controller), 0)
        gone = other.controller
        other.close()
        deadline = time.monotonic() + 5
        while gone in one.controllers() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert one.controllers() == {one.controller}


def test_the_controller(host):
    data = host.identify(1)
    assert data[77] == 8  # 1 MiB in units of 4 KiB
    assert struct.unpack_from("<HI", data, 78) == (host.controller, 0x0002_0000)
    assert data[111] == 1 and data[512:514] == b"\x66\x44" and data[525] & 1 == 0
    assert data[768:1024].rstrip(b"\0").decode() == DEFAULT_NQN
    assert host.get_property(0, eight=True) >> 37 & 0xFF == 0b0100_0001
    assert struct.unpack_from("<I", data, 1792)[0] * 16 == 64 + (16 << 10)


def test_the_namespace(host):
    data = host.identify(0, nsid=1)
    assert struct.unpack_from("<QQ", data) == (30 * ZONE, 30 * ZONE)
    assert data[130] == 12 and data[33] & 7 == 1
    zoned = host.identify(5, nsid=1, command_set=2)
    assert struct.unpack_from("<HHII", zoned) == (0, 0, 11, 7)
    assert struct.unpack_from("<Q", zoned, 2816)[0] == ZONE
    descriptors = host.identify(3, nsid=1)
    assert descriptors[:2] == b"\x03\x10" and descriptors[20:25] == b"\x04\x01\0\0\x02"
    assert host.identify(6, command_set=2) == host.identify(6, command_set=0) == bytes(4096)
    assert host.identify(2)[:8] == host.identify(7, command_set=2)[:8] == b"\1\0\0\0\0\0\0\0"
    assert host.identify(7, command_set=0) == bytes(4096)
    assert host.identify(5, nsid=1, command_set=0) == bytes(4096)


@pytest.mark.parametrize(
    "preset, zone, capacity, block", [("tiny", 32, 24, 9), ("behemoth", 1 << 20, 786_432, 12)]
)
def test_other_geometries(preset, zone, capacity, block):
    with served(preset) as target, target.host() as host:
        data = host.identify(0, nsid=1)
        blocks, written = struct.unpack_from("<QQ", data)
        assert blocks // zone == written // capacity and data[130] == block
        size = 1 << block
        host.append(1, zone, bytes([3]) * 2 * size)
        assert host.read(1, zone, 4) == bytes([3]) * 2 * size + bytes(2 * size)


@pytest.mark.parametrize(
    "structure, nsid, command_set, status",
    [
        (0x44, 1, 0, 0x002),
        (0, 9, 0, 0x00B),
        (0, 0, 0, 0x00B),
        (5, 1, 1, 0x002),
        (6, 0, 1, 0x002),
        (2, 0xFFFF_FFFF, 0, 0x00B),
    ],
)
def test_structures_that_there_are_not(host, structure, nsid, command_set, status):
    with pytest.raises(CommandFailed) as refused:
        host.identify(structure, nsid, command_set)
    assert (refused.value.status, refused.value.do_not_retry) == (status, True)


def test_commands_and_their_effects(host):
    for command_set, appends in ((0, 0), (2, 3)):
        page = host.log_page(5, 4096, command_set=command_set)
        admin, io = struct.unpack_from("<256I", page), struct.unpack_from("<256I", page, 1024)
        assert admin[6] == 1 and io[1] == 3 and io[2] == 1 and io[0x7D] == appends
        assert io[0x80] == 0


def test_health_has_the_wear_and_the_traffic():
    with served() as target, target.host() as host:
        before = host.log_page(2, 512)
        assert before[0] == 0 and before[3] == 100 and before[5] == 0 and before[1:3] == bytes(2)
        host.write(1, 0, bytes(250 * BLOCK))
        host.read(1, 0, 250)
        after = host.log_page(2, 512)
        read, written, reads, writes = (
            struct.unpack_from("<Q", after, place)[0] for place in (32, 48, 64, 80)
        )
        assert (read, written, reads, writes) == (2, 2, 1, 1)  # thousands of 512 bytes, rounded up


def test_worn_zones_are_a_warning():
    from flashtrain.nvme.subsystem import health

    with served() as target, target.host() as host:
        subsystem = target.target.subsystem
        host.set_feature(0x0B, 0xFF)
        request = host.admin.submit(Entry(AdminOpcode.ASYNC_EVENT_REQUEST))
        endurance = 50_000

        def wear_out(device) -> None:
            device.link._executor.physical.wear[3] = endurance

        target.run(subsystem.thread.ask(wear_out))
        target.run(subsystem.check_wear())
        assert host.admin.wait(request).answer.result == 0x02_00_01
        page = host.log_page(2, 512)
        assert page[0] == 4 and page[5] == 100
        assert health.LEAST_SPARE == page[4]


def test_refused_commands_are_in_the_error_log(host):
    with pytest.raises(CommandFailed):
        host.write(1, 77, bytes(BLOCK))
    number, queue, _, status, location, lba, nsid = struct.unpack_from("<QHHHHQI", host.log_page(1, 64))
    assert number >= 1 and (queue, status >> 1 & 0x7FF, lba, nsid) == (1, 0x1BC, 77, 1)
    assert status >> 15 == 1 and location == 0xFFFF  # as the completion; and no parameter is to blame
    assert struct.unpack_from("<Q", host.log_page(2, 512), 176)[0] == number


def test_parts_of_log_pages(host):
    whole = host.log_page(5, 4096, command_set=2)
    assert host.log_page(5, 64, command_set=2, offset=1024) == whole[1024:1088]
    for page, length, offset in ((0x55, 64, 0), (5, 64, 4100), (5, 64, 2), (2, 1 << 20, 0)):
        with pytest.raises(CommandFailed):
            host.log_page(page, length, offset=offset)


def test_features(target):
    with target.host(queues=0) as host:
        assert host.set_feature(7, 3 | 3 << 16) == 7 | 7 << 16
        for feature, value, nsid, status in (
            (7, 0xFFFF, 0, 0x002),
            (0x81, 0, 0, 0x00C),
            (0x7F, 0, 0, 0x002),
            (1 | 1 << 31, 0, 0, 0x10D),
            (1, 3, 0, 0x10E),
            (1, 0, 1, 0x10F),
            (5, 1 << 16, 2, 0x00B),
        ):
            with pytest.raises(CommandFailed) as refused:
                host.set_feature(feature, value, nsid)
            assert refused.value.status == status


def get_feature(host, feature, select=0, nsid=0, dword_11=0):
    entry = Entry(AdminOpcode.GET_FEATURES, nsid=nsid, dword_10=feature | select << 8, dword_11=dword_11)
    return host.admin.execute(entry).answer


def test_values_of_features(host):
    """By Select: the current value, the default, and whether it can be changed and for whom."""
    host.set_feature(5, 1 << 16 | 77, nsid=1)
    assert [get_feature(host, 5, select, 1).result for select in range(4)] == [1 << 16 | 77, 0, 0, 0b110]
    host.set_feature(0x0B, 0x01)
    assert [get_feature(host, 0x0B, select).result for select in range(4)] == [1, 0, 0, 0b100]
    assert get_feature(host, 1, 3).result == 0 and get_feature(host, 1, 4).status == 0x002
    assert get_feature(host, 4).result == 343 and get_feature(host, 4, dword_11=1 << 20).result == 0
    assert struct.unpack_from("<HH", host.identify(1), 266) == (343, 358)


def test_the_note_of_a_stream():
    note = bytes(range(256)) * 40
    with open_device("small", node="update") as device:
        device.stream("trained").annotate(note)
        with serving(device) as running, running.host() as host:
            page = host.log_page(PAGE, HEADER_BYTES + len(note), nsid=3)
            parts = [host.log_page(PAGE, 4096, nsid=3, offset=place) for place in range(0, len(page), 4096)]
            assert parse_note(page) == parse_note(b"".join(parts)) == note
            assert parse_note(page[:-1] + b"x") is None and parse_note(page[:-1]) is None
            assert parse_note(host.log_page(PAGE, 64, nsid=5)) == b""
            for nsid in (1, 2, 8, 0xFFFF_FFFF):  # without the right to read, inactive, the journal, all
                with pytest.raises(CommandFailed) as refused:
                    host.log_page(PAGE, 64, nsid=nsid)
                assert refused.value.status == 0x109


def test_sets_of_commands_by_profile(host):
    assert get_feature(host, 0x19).result == 0
    host.set_feature(0x19, 0)
    with pytest.raises(CommandFailed) as refused:
        host.set_feature(0x19, 1)
    assert refused.value.status == 0x12B


def test_pages_and_features_are_those_that_are_listed(host):
    """Every log page and every feature has the answer that the lists promise."""
    listed = struct.unpack_from("<256I", host.log_page(0, 1024))
    for page in range(256):
        try:
            host.log_page(page, 64, nsid=1 if page in (0xBF, PAGE) else 0xFFFF_FFFF)
            served_page = True
        except CommandFailed as refused:
            assert refused.status == 0x109
            served_page = False
        assert served_page == bool(listed[page] & 1), page
    features = struct.unpack_from("<256I", host.log_page(0x12, 1024))
    assert features[5] >> 20 == 1 and features[4] >> 20 == 2  # scope: a namespace, the controller
    for feature in range(256):
        status = get_feature(host, feature, nsid=1 if feature == 5 else 0).status if feature != 0x81 else 0
        assert (status == 0) == bool(features[feature] & 1), feature
    assert host.identify(1)[261] & 1 << 5  # LPA


@pytest.mark.parametrize(
    "configuration",
    [0x0046_0071, 0x0046_00E1, 0x0046_0861, 0x0047_0061, 0x0036_0061, 0x0146_0061],
)
def test_a_configuration_that_cannot_be_is_fatal(target, configuration):
    """Command set, page size, arbitration, sizes of entries, readiness: CSTS.CFS, until the reset."""
    with target.host(queues=0) as host:
        host.set_property(0x14, 0)
        host.set_property(0x14, configuration)
        assert host.get_property(0x1C) == 0b10
        host.set_property(0x14, 0)
        assert host.get_property(0x1C) == 0
        host.set_property(0x14, 0x0046_0061)
        assert host.get_property(0x1C) == 0b01
        assert host.get_property(0, eight=True) >> 59 & 3 == 1 and host.get_property(0x68) == 0xFF


def test_properties_belong_to_the_admin_queue(host):
    for kind in (FabricsType.PROPERTY_GET, FabricsType.PROPERTY_SET):
        answer = host.io[0].execute(fabrics(kind, struct.pack("<B3xIQ8x", 0, 0x14, 0))).answer
        assert answer.status == 0x001
    assert host.get_property(0x1C) == 1


@pytest.mark.parametrize(
    "change, field",
    [
        ({"entries": 31}, 44),
        ({"attributes": 0x10}, 46),
        ({"host": b"n" * 512}, 512 | 1 << 16),
        ({"host": b"nqn.2014-08.org.example:\xff".ljust(512, b"\0")}, 512 | 1 << 16),
        ({"host": "nqn.\u0662\u0660\u0661\u0664-08.org.example:a".encode().ljust(512, b"\0")}, 512 | 1 << 16),
    ],
    ids=["entries", "attributes", "no-end", "no-utf-8", "other-digits"],
)
def test_a_connect_that_is_no_connect(target, change, field):
    entry, data = connect_command(0, change.get("entries", 32), 0xFFFF, DEFAULT_NQN, DEFAULT_HOST, 0, False)
    if "attributes" in change:
        raw = bytearray(entry.fields)
        raw[6] = change["attributes"]
        entry = fabrics(FabricsType.CONNECT, bytes(raw))
    if "host" in change:
        data = data[:512] + change["host"]
    with socket.create_connection(target.address) as sock:
        answer = ClientQueue(sock).execute(entry, data).answer
    assert (answer.status, answer.result) == (0x182, field)


def test_the_number_of_queues_is_settled_by_the_first_queue(host):
    with pytest.raises(CommandFailed) as refused:
        host.set_feature(7, 3 | 3 << 16)
    assert refused.value.status == 0x00C


def test_the_error_log_is_as_long_as_the_controller_says(host):
    entries = host.identify(1)[262] + 1
    assert host.log_page(1, 64, offset=64 * (entries - 1)) == bytes(64)
    with pytest.raises(CommandFailed):
        host.log_page(1, 64, offset=64 * entries + 4)


def test_event_requests_have_a_limit(host):
    for _ in range(4):
        host.admin.submit(Entry(AdminOpcode.ASYNC_EVENT_REQUEST))
    assert host.admin.execute(Entry(AdminOpcode.ASYNC_EVENT_REQUEST)).answer.status == 0x105


def test_an_abort_of_what_is_not_there(host):
    answer = host.admin.execute(Entry(AdminOpcode.ABORT, dword_10=1 | 500 << 16)).answer
    assert (answer.status, answer.result) == (0, 1)


def test_a_silent_host_is_gone(target):
    host = target.host(keep_alive=300)
    for _ in range(4):
        time.sleep(0.15)
        assert host.admin.execute(Entry(AdminOpcode.KEEP_ALIVE)).answer.status == 0
    time.sleep(0.6)
    with pytest.raises((ProtocolError, OSError)):
        host.identify(1)
    host.close()
    assert any("silent" in line for line in target.log)


def test_discovery(target):
    with Host(target.address, DISCOVERY_NQN, queues=0) as host:
        assert host.identify(1)[111] == 2
        header = host.log_page(0x70, 1024)
        assert struct.unpack_from("<QQ", header) == (1, 1)
        record = host.log_page(0x70, 1024, offset=1024)
        assert record[0] == 3 and record[2] == 2
        assert record[256:512].rstrip(b"\0").decode() == DEFAULT_NQN
        assert record[32:64].strip() == str(target.target.port).encode()
        assert record[512:768].strip() == b"127.0.0.1" and record[3] == 0b100
        effects = struct.unpack("<512I2048x", host.log_page(5, 4096))
        assert effects[2] == effects[6] == effects[0x7F] == 1 and not effects[8] and not any(effects[256:])
        for refused in (lambda: host.identify(2), lambda: host.log_page(2, 512)):
            with pytest.raises(CommandFailed):
                refused()
    with pytest.raises(CommandFailed):
        Host(target.address, DISCOVERY_NQN, queues=1)
