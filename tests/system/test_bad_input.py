"""Malformed commands: the status that the standard names, and the queues go on."""

import numpy as np
import pytest

from flashtrain.spec import Opcode, Port, Status, ZoneAction, ZoneState

READ, WRITE, APPEND = Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND
SEND, RECEIVE, RETIRE = Opcode.ZONE_MANAGEMENT_SEND, Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.ZONE_RETIRE
FLUSH, RESET = Opcode.FLUSH, Opcode.STREAM_RESET


@pytest.fixture
def check(raw, device, config):
    """Asserts the status of a raw command, and that a good one still works."""

    def run(expected, opcode, **fields):
        before = device.stream("activations").report()
        assert raw.status(opcode, **fields) == expected
        assert raw.status(READ, slba=config.geometry.zone_size) == Status.SUCCESS
        assert device.stream("activations").report() == before

    assert raw.status(APPEND, slba=config.geometry.zone_size, nlb=2) == Status.SUCCESS
    return run


def test_unknown_opcodes(raw):
    known = set(Opcode)
    for opcode in range(256):
        if opcode not in known:
            assert raw.status(opcode, fuse=3, nsid=99) == Status.INVALID_OPCODE


def test_fused_and_not_sgl(check):
    for opcode in Opcode:
        for fuse in (1, 2, 3):
            check(Status.INVALID_FIELD, opcode, fuse=fuse, nsid=0)
    for opcode in (READ, WRITE, APPEND, RECEIVE):
        for psdt in (0, 2, 3):
            check(Status.INVALID_FIELD, opcode, psdt=psdt, nsid=0)


def test_psdt_of_a_command_without_data_is_free(raw):
    assert raw.status(FLUSH, psdt=2) == Status.SUCCESS


@pytest.mark.parametrize("opcode", [READ, WRITE, APPEND], ids=lambda opcode: opcode.name)
def test_number_of_blocks(check, config, opcode):
    check(Status.INVALID_FIELD, opcode, nlb=config.max_blocks)
    check(Status.INVALID_FIELD, opcode, nlb=0xFFFF, length=0)


def test_commands_as_long_as_the_limit(raw, config, device):
    most = config.max_blocks
    raw.data[:] = np.arange(len(raw.data)) % 251
    assert raw.status(APPEND, nlb=most - 1) == Status.SUCCESS
    expected = raw.data.copy()
    raw.data[:] = 0
    assert raw.status(READ, nlb=most - 1) == Status.SUCCESS
    assert np.array_equal(raw.data, expected)


def test_zone_starts(check, config):
    for slba in (1, config.geometry.zone_size - 1, config.geometry.zone_size + 1, (1 << 64) - 1):
        check(Status.INVALID_FIELD, APPEND, slba=slba)
        check(Status.INVALID_FIELD, RETIRE, slba=slba, action=ZoneState.OFFLINE)
        check(Status.INVALID_FIELD, SEND, slba=slba, action=ZoneAction.RESET)


def test_all_zones_need_no_zone_start(raw):
    assert raw.status(SEND, slba=(1 << 64) - 1, action=ZoneAction.CLOSE, select_all=1) == Status.SUCCESS


def test_actions(check):
    for action in (0x00, 0x06, 0x10, 0x11, 0xFF):
        check(Status.INVALID_FIELD, SEND, action=action)
        check(Status.INVALID_FIELD, SEND, action=action, select_all=1)
    for action in (0, 1, 2, 3, 4, 0xC, 0xE, 0x1F, 0xFD):
        check(Status.INVALID_FIELD, RETIRE, action=action)
    for action in (0x01, 0x02, 0xFF):
        check(Status.INVALID_FIELD, RECEIVE, action=action)
    for options in (0x08, 0x10, 0xFF):
        check(Status.INVALID_FIELD, RECEIVE, report_options=options)


def test_reports_shorter_than_their_header(check):
    for dwords in (0, 1, 14):
        check(Status.INVALID_FIELD, RECEIVE, dwords=dwords, length=4 * (dwords + 1))


@pytest.mark.parametrize("opcode", [READ, WRITE, APPEND, RECEIVE], ids=lambda opcode: opcode.name)
def test_data_pointers(check, config, link, opcode):
    page = config.geometry.page_bytes
    length = 256 if opcode is RECEIVE else page
    memory = len(link.memory)
    for kind in (0x01, 0x10, 0x20, 0x30, 0xFF):
        check(Status.SGL_TYPE_INVALID, opcode, sgl_type=kind, length=1)
    for wrong in (0, 1, length - 1, length + 1, length + 4, 2 * length, 0xFFFF_FFFF):
        check(Status.SGL_LENGTH_INVALID, opcode, length=wrong, address=1)
    for offset in (1, 2, 4, 7) if opcode is RECEIVE else (1, 8, 64, page // 2, page - 1):
        check(Status.SGL_GRANULARITY_INVALID, opcode, address=memory + offset)
    for address in (memory, memory - length + (8 if opcode is RECEIVE else page), 1 << 40, (1 << 64) - page):
        check(Status.DATA_TRANSFER_ERROR, opcode, address=address, slba=1 << 63)


def test_the_last_bytes_of_memory_can_be_used(raw, link, config):
    page = config.geometry.page_bytes
    memory = len(link.memory)
    link.memory[-page:] = 0x5A
    assert raw.status(APPEND, address=memory - page) == Status.SUCCESS
    link.memory[-page:] = 0
    assert raw.status(READ, address=memory - page) == Status.SUCCESS
    assert (link.memory[-page:] == 0x5A).all()
    assert raw.status(RECEIVE, address=memory - 256) == Status.SUCCESS


def test_addresses_outside_the_stream(check, device, config):
    zones, size = device.stream("activations").zones, config.geometry.zone_size
    for zone in (zones, zones + 1, 1 << 12, (1 << 64) // size - 1):
        check(Status.LBA_OUT_OF_RANGE, READ, slba=zone * size)
        check(Status.LBA_OUT_OF_RANGE, READ, slba=zone * size + 1)
        check(Status.LBA_OUT_OF_RANGE, WRITE, slba=zone * size)
        check(Status.LBA_OUT_OF_RANGE, APPEND, slba=zone * size)
        check(Status.LBA_OUT_OF_RANGE, RECEIVE, slba=zone * size)
        check(Status.LBA_OUT_OF_RANGE, SEND, slba=zone * size, action=ZoneAction.OPEN)
        check(Status.LBA_OUT_OF_RANGE, RETIRE, slba=zone * size, action=ZoneState.OFFLINE)


def test_reads_and_writes_off_the_pointer(check, config):
    zone = config.geometry.zone_size
    for slba, blocks in ((zone + 3, 1), (zone + 2, 2), (zone, 4), (0, 1)):
        check(Status.UNWRITTEN_BLOCK, READ, slba=slba, nlb=blocks - 1)
    for slba in (zone, zone + 2, zone + 4, 2 * zone - 1, 1):
        check(Status.ZONE_INVALID_WRITE, WRITE, slba=slba)


def test_the_first_check_that_fails_counts(raw, config):
    """A command with every fault; mended one at a time, it answers with the next check's status."""
    page, zone = config.geometry.page_bytes, config.geometry.zone_size
    fields = {
        "opcode": 0x03, "fuse": 1, "nsid": 9, "nlb": config.max_blocks, "slba": (1 << 63) + 1,
        "sgl_type": 0x20, "length": 3, "address": (1 << 48) + 1, "port": Port.HOST, "stream": "activations",
    }  # fmt: skip
    last = {"slba": (1 << 63)}
    steps = [
        (Status.INVALID_OPCODE, {"opcode": APPEND}),
        (Status.INVALID_FIELD, {"fuse": 0}),
        (Status.INVALID_NAMESPACE, {"nsid": 2}),
        (Status.ACCESS_DENIED, {"port": Port.CORE}),
        (Status.INVALID_FIELD, {"nlb": 0}),
        (Status.INVALID_FIELD, last),
        (Status.SGL_TYPE_INVALID, {"sgl_type": 0}),
        (Status.SGL_LENGTH_INVALID, {"length": page}),
        (Status.SGL_GRANULARITY_INVALID, {"address": 1 << 48}),
        (Status.DATA_TRANSFER_ERROR, {"address": raw.address}),
        (Status.LBA_OUT_OF_RANGE, {"slba": zone}),
        (Status.SUCCESS, {}),
    ]
    for expected, mended in steps:
        assert raw.status(**fields) == expected
        fields |= mended


def test_reserved_fields_are_ignored(raw, device):
    value = int.from_bytes(raw.entry(APPEND), "little")
    for bit in (10, 13, 64, 127, 128, 191, 288, 311, 400, 415, 424, 447, 448, 511):
        answer = device.submit_raw(Port.CORE, value | 1 << bit)
        assert answer.status == Status.SUCCESS, f"bit {bit}"


def test_a_burst_of_nonsense(device, seed):
    random = np.random.default_rng(seed)
    batch = []
    for i in range(100):
        entry = bytearray(random.bytes(64))
        entry[2:4] = i.to_bytes(2, "little")
        # Reads and reports might lie over the queues: no such opcode.
        entry[0] = 0x03 if entry[0] in (READ, RECEIVE) else entry[0]
        batch.append((Port(i % 2), bytes(entry)))
    answers = device.submit_raw_batch(batch)
    assert sorted(answer.cid for answer in answers) == list(range(100))
    stream = device.stream("weights")
    stream.reset()
    assert np.array_equal(stream.read(stream.append(np.arange(3))), np.arange(3))
