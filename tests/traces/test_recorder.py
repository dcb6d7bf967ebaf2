"""A run on a device, recorded as a block trace, and replayed."""

import numpy as np

from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import Port, preset
from flashtrain.traces import Operation, TraceRecord, load_trace, save_trace
from flashtrain.traces.recorder import TraceRecorder
from flashtrain.traces.replay import TRACE_NODE, ZonedPlayer

TINY = preset("tiny")
ZONE = TINY.geometry.zone_size
READ, WRITE, TRIM, FLUSH = Operation


def blocks(count):
    return np.ones((count, 512), np.uint8)


def record(work, node=TRACE_NODE):
    """The trace of `work(device)`."""
    recorder = TraceRecorder()
    with open_device(TINY, recorder.around(FunctionalLink), node, queue_entries=4) as device:
        work(device)
    return recorder.records()


def commands(records):
    return [(each.op, each.lba, each.sectors) for each in records]


def test_commands_and_their_places():
    def work(device):
        stream = device.stream("trace")
        stored = stream.append(blocks(3))
        stream.write(ZONE, blocks(2))
        stream.read(stored)
        stream.flush()
        stream.reset_zone(1)
        stream.append(blocks(1))
        stream.reset()

    assert commands(record(work)) == [
        (WRITE, 0, 3), (WRITE, ZONE, 2), (READ, 0, 3), (FLUSH, 0, 0), (TRIM, ZONE, ZONE), (WRITE, 3, 1),
        (TRIM, 0, ZONE),
    ]  # fmt: skip


def test_queues_that_wrap():
    """More commands in flight than entries, in the order of their submission."""

    def work(device):
        stream = device.stream("trace")
        device.wait([stream.append_async(blocks(1)) for _ in range(11)])

    assert commands(record(work)) == [(WRITE, number, 1) for number in range(11)]


def test_a_refused_command_is_left_out():
    def work(device):
        answer = device.submit_raw(Port.CORE, 0xFF)
        assert not answer.ok

    assert record(work) == []


def test_streams_have_the_addresses_of_the_device():
    def work(device):
        device.stream("activations").append(blocks(1))

    records = record(work, "single")
    first = 2 * 3 + 1  # zones before it: the inputs' shares
    assert [each.op for each in records] == [WRITE]
    assert records[0].lba % ZONE == 0 and 0 < records[0].lba // ZONE <= first


def test_a_recorded_run_replays(tmp_path):
    def work(device):
        stream = device.stream("trace")
        for _ in range(2):
            stored = [stream.append(blocks(7)) for _ in range(5)]
            for each in stored:
                stream.read(each)
            stream.reset()

    records = record(work)
    path = tmp_path / "a.log"
    save_trace(path, records)
    with open_device(TINY, FunctionalLink, TRACE_NODE) as device:
        run = ZonedPlayer(load_trace(path), device, 8).run()
    assert run.read_bytes == run.written_bytes == 2 * 5 * 7 * 512
    assert run.zones_reset == 2 * 2
    assert isinstance(records[0], TraceRecord)
