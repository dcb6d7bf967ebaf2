"""Block traces on a zoned device."""

import pytest

from flashtrain.host import ArrayError, FunctionalLink, open_device
from flashtrain.spec import preset
from flashtrain.traces import Operation, TraceError, TraceRecord, load_trace, save_trace
from flashtrain.traces.replay import STREAM, TRACE_NODE, ZonedPlayer
from flashtrain.traces.zoned import zoned_commands

TINY = preset("tiny")
G = TINY.geometry  # blocks of one sector; zones of 24 blocks, 32 addresses apart
READ, WRITE, TRIM, FLUSH = Operation


@pytest.fixture
def trace_of(tmp_path):
    def make(*commands):
        path = tmp_path / "a.log"
        save_trace(path, [TraceRecord(0, lba, sectors, op) for op, lba, sectors in commands])
        return load_trace(path)

    return make


def play(trace, depth=4):
    with open_device(TINY, FunctionalLink, TRACE_NODE) as device:
        return ZonedPlayer(trace, device, depth).run()


def test_replay(trace_of):
    full = G.zone_capacity
    trace = trace_of(
        (WRITE, 0, 8), (WRITE, 8, full - 8), (READ, 3, 9), (WRITE, 64, 5), (FLUSH, 0, 0), (READ, 64, 5),
        (TRIM, 0, 32), (WRITE, 0, 1), (READ, 0, 1), (TRIM, 0, 32 + 32 + full),
    )  # fmt: skip
    run = play(trace)
    assert (run.commands, run.zones_reset, run.cycles) == (10, 4, 0)
    assert run.written_bytes == (full + 5 + 1) * 512
    assert run.read_bytes == (9 + 5 + 1) * 512


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ([(WRITE, 0, 8), (WRITE, 9, 8)], "write at sector 9 out of place; expected 8, the write pointer of"),
        ([(WRITE, 0, 24), (WRITE, 0, 8)], "write at sector 0 out of place; expected a trim of zone 0 before"),
        ([(WRITE, 32, 4), (WRITE, 36, 21)], "write at sector 36 of 21 sectors; expected an end of at most"),
        ([(WRITE, 32, 4), (READ, 32, 5)], "read at sector 32 of 5 sectors; expected an end of at most 36"),
        ([(WRITE, 0, 4), (TRIM, 0, 4)], "trim at sector 0 of 4 sectors; expected whole zones of 32 sectors"),
        ([(WRITE, 0, 4), (WRITE, 512, 4)], "write at sector 512; expected one below 512, the end of 16"),
    ],
)  # fmt: skip
def test_a_command_out_of_place(trace_of, commands, message):
    trace = trace_of(*commands)
    with pytest.raises(TraceError) as error:
        list(zoned_commands(trace, G))
    assert str(error.value).startswith(f"{trace.path}:5: {message}")


def test_parts_of_a_block(trace_of):
    with pytest.raises(TraceError, match=r"a\.log:4: write at sector 0 of 4 sectors; expected whole blocks"):
        list(zoned_commands(trace_of((WRITE, 0, 4)), preset("small").geometry))


def test_zones_are_closed_when_too_many_are_open(trace_of):
    zones = [0, 32, 0, 64, 32, 0]
    counts = {zone: 0 for zone in zones}
    commands = []
    for zone in zones:
        commands.append((WRITE, zone + counts[zone], 1))
        counts[zone] += 1
    assert TINY.max_open < len(counts) <= TINY.max_active
    assert play(trace_of(*commands)).written_bytes == len(zones) * 512


def test_a_refusal_of_the_device_names_the_line(trace_of):
    """More zones than may be active."""
    trace = trace_of(*((WRITE, 32 * zone, 1) for zone in range(TINY.max_active + 1)))
    with pytest.raises(TraceError, match=r"a\.log:7: WRITE of 1 blocks at LBA 0x60 .*ACTIVE_ZONES"):
        play(trace, depth=1)


def test_wrong_data_is_found(trace_of, monkeypatch):
    with open_device(TINY, FunctionalLink, TRACE_NODE) as device:
        player = ZonedPlayer(trace_of((WRITE, 0, 4), (READ, 0, 4)), device, 1)
        monkeypatch.setattr(type(device.stream(STREAM)), "write_async", _write_zeros)
        with pytest.raises(ArrayError, match="LBA 0: 4 blocks differ from what was written"):
            player.run()


def _write_zeros(stream, lba, array):
    return stream.append_async(array * 0)
