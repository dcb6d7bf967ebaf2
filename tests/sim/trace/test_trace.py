"""Traces: records become intervals on tracks, a document that trace viewers open, and a figure."""

import itertools
import json

import numpy as np
import pytest

from flashtrain.sim.link.rtl_link import TRACE_RECORD
from flashtrain.sim.trace.figure import draw_timeline
from flashtrain.sim.trace.perfetto import trace_events, write_perfetto
from flashtrain.sim.trace.timeline import Flow, Sample, Slice, Timeline
from flashtrain.sim.trace.trace import Activity, AxiChannel, Interval, Kind, Track, intervals
from flashtrain.spec import PRESETS, Port
from flashtrain.spec.registers import Register, cq_head_doorbell, sq_tail_doorbell
from flashtrain.writing import OutputError

SMALL = PRESETS["small"]


def records(*rows: tuple[int, int, int, int, int, int]) -> np.ndarray:
    return np.array(list(rows), TRACE_RECORD)


def test_array_and_bus():
    found = intervals(
        records(
            (100, 1900, Kind.SENSE, 2, 1, 0b1011),
            (1950, 2040, Kind.COMMAND, 2, 1, 0x06),
            (2040, 4200, Kind.DATA_OUT, 2, 1, 3),
            (4200, 6360, Kind.DATA_IN, 0, 0, 1),
            (6400, 6450, Kind.STATUS, 0, 0, 0xE0),
            (6460, 66460, Kind.PROGRAM, 0, 0, 0b1111),
            (6500, 256500, Kind.ERASE, 3, 0, 0b0001),
        )
    )
    assert found == [
        (("channel 2", "die 1"), "sense", 100, 1900, "planes 0, 1, 3"),
        (("channel 2", "bus"), "command", 1950, 2040, "die 1, command 06h"),
        (("channel 2", "bus"), "transfer out", 2040, 4200, "die 1, plane 3"),
        (("channel 0", "bus"), "transfer in", 4200, 6360, "die 0, plane 1"),
        (("channel 0", "bus"), "status", 6400, 6450, "die 0, status E0h"),
        (("channel 0", "die 0"), "program", 6460, 66460, "planes 0, 1, 2, 3"),
        (("channel 3", "die 0"), "erase", 6500, 256500, "planes 0"),
    ]


def test_bursts_that_overlap_are_shown_one_after_the_other():
    read, write = AxiChannel.DATA_READ, AxiChannel.QUEUE_WRITE
    found = intervals(
        records(
            (5, 5, Kind.BURST_END, 0, 0, read),  # began before the trace
            (10, 10, Kind.BURST, 0, 0, read),
            (12, 12, Kind.BURST, 0, 0, read),
            (13, 13, Kind.BURST, 0, 0, write),
            (14, 14, Kind.BURST_END, 0, 0, write),
            (80, 80, Kind.BURST_END, 0, 0, read),
            (150, 150, Kind.BURST_END, 0, 0, read),
            (160, 160, Kind.BURST, 0, 0, read),  # has not ended
        )
    )
    axi = "AXI to the tensor buffer"
    assert found == [
        ((axi, "queue write"), "burst", 13, 14, "address at clock 13"),
        ((axi, "data read"), "burst", 10, 80, "address at clock 10"),
        ((axi, "data read"), "burst", 80, 150, "address at clock 12"),
    ]


def test_ports():
    found = intervals(
        records(
            (3, 3, Kind.REGISTER_WRITTEN, 0, 0, sq_tail_doorbell(Port.CORE)),
            (90, 90, Kind.INTERRUPT_RAISED, 0, 0, 0),
            (95, 95, Kind.REGISTER_WRITTEN, 0, 0, Register.INTERRUPT),
            (97, 97, Kind.REGISTER_WRITTEN, 0, 0, cq_head_doorbell(Port.HOST)),
        )
    )
    assert found == [
        (("ports", "core port"), "doorbell", 3, 3, "submission tail"),
        (("ports", "interrupt"), "interrupt", 90, 90, ""),
        (("ports", "registers"), "register write", 95, 95, "address 0x028"),
        (("ports", "host port"), "doorbell", 97, 97, "completion head"),
    ]


def test_an_empty_trace():
    assert intervals(records()) == []
    assert list(trace_events(Timeline(), 600)) == []


def a_run(seed: int) -> list[Interval]:
    """Made-up traffic: every die programs and senses, the bus carries their pages, one zone is erased."""
    random = np.random.default_rng(seed)
    rows = []
    for channel in range(SMALL.geometry.channels):
        bus = int(random.integers(0, 400))
        for page_set in range(6):
            die = page_set % SMALL.geometry.dies
            kind = Kind.DATA_OUT if page_set == 3 else Kind.DATA_IN
            for plane in range(SMALL.geometry.planes):
                rows.append((bus, bus + 100, Kind.COMMAND, channel, die, 0x80))
                rows.append((bus + 190, bus + 2350, kind, channel, die, plane))
                bus += 2400
            if kind is Kind.DATA_IN:
                start = bus + 60
                rows.append((start, start + 15_000, Kind.PROGRAM, channel, die, 15))
            else:
                rows.append((bus - 9_000, bus - 7_200, Kind.SENSE, channel, die, 15))
    rows.append((90_000, 120_000, Kind.ERASE, 3, 1, 15))
    for burst in range(200):
        asked, last = burst * 100, burst * 100 + 164  # the next one is asked for before this one ends
        rows.append((asked, asked, Kind.BURST, 0, 0, AxiChannel.DATA_READ))
        rows.append((last, last, Kind.BURST_END, 0, 0, AxiChannel.DATA_READ))
    rows.append((0, 0, Kind.REGISTER_WRITTEN, 0, 0, sq_tail_doorbell(Port.CORE)))
    return intervals(records(*sorted(rows, key=lambda row: row[1])))


def test_perfetto_document(seed, tmp_path):
    run = a_run(seed)
    path = tmp_path / "trace.json"
    assert write_perfetto(Timeline([Slice.of(each) for each in run]), path, clock_mhz=600)
    document = json.loads(path.read_text(encoding="utf-8"))
    named = [event for event in document["traceEvents"] if event["ph"] == "M"]
    processes = {e["pid"]: e["args"]["name"] for e in named if e["name"] == "process_name"}
    threads = {e["tid"]: (e["pid"], e["args"]["name"]) for e in named if e["name"] == "thread_name"}
    assert list(processes.values()) == [
        "ports",
        "AXI to the tensor buffer",
        *(f"channel {c}" for c in range(4)),
    ]
    assert [name for pid, name in threads.values() if processes[pid] == "channel 0"] == [
        "bus",
        "die 0",
        "die 1",
    ]

    events = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert len(events) == len(run)
    back = {
        (Track(processes[event["pid"]], threads[event["tid"]][1]), event["name"], event["args"]["cycle"])
        for event in events
    }
    assert back == {(interval.track, str(interval.activity), interval.start) for interval in run}
    program = next(event for event in events if event["name"] == "program")
    assert program["dur"] == pytest.approx(15_000 / 600, abs=0.001)
    assert program["ts"] == program["args"]["cycle"] * 1000 // 600 / 1000
    assert program["args"]["cycles"] == 15_000


DIE, BUS, PORT = Track("channel 0", "die 0"), Track("channel 0", "bus"), Track("commands", "core 0")


def a_timeline(commands: int = 1) -> Timeline:
    timeline = Timeline()
    for number in range(commands):
        at = 1000 * number
        timeline.slices.append(Slice(PORT, "append", at, at + 900, {"lba": number}))
        timeline.slices.append(Slice(PORT, "data", at + 10, at + 100, {}))
        timeline.slices.append(Slice(DIE, "program", at + 200, at + 800, {}))
        timeline.flows.append(Flow(((PORT, at + 20), (DIE, at + 200))))
        timeline.samples.append(Sample(Track("counters", "dies busy"), at, number))
    return timeline


def test_flows_and_counters():
    timeline = a_timeline()
    timeline.slices.append(Slice(BUS, "transfer in", 150, 190, {}))
    timeline.flows.append(Flow(((PORT, 20), (BUS, 150), (DIE, 200))))
    events = list(trace_events(timeline, 1000))
    flows = [(e["id"], e["ph"], e["ts"], e.get("bp")) for e in events if e["ph"] in "stf"]
    assert flows == [
        (1, "s", 0.02, None), (1, "f", 0.2, "e"),
        (2, "s", 0.02, None), (2, "t", 0.15, None), (2, "f", 0.2, "e"),
    ]  # fmt: skip
    (counter,) = [event for event in events if event["ph"] == "C"]
    assert (counter["name"], counter["args"]) == ("dies busy", {"value": 0})
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert list(names.values()) == ["commands", "counters", "channel 0"]
    # Every point lies within a slice of its thread.
    slices = [event for event in events if event["ph"] == "X"]
    for point in (event for event in events if event["ph"] in "stf"):
        own = [each for each in slices if (each["pid"], each["tid"]) == (point["pid"], point["tid"])]
        assert any(each["ts"] <= point["ts"] <= each["ts"] + each["dur"] for each in own)


def test_a_file_has_so_many_events_at_most(tmp_path):
    """The earliest ones are kept, and the file says so."""
    path = tmp_path / "trace.json"
    for commands, most, complete in ((4, 24, True), (100, 24, False)):
        assert write_perfetto(a_timeline(commands), path, 1000, most) is complete
        document = json.loads(path.read_text(encoding="utf-8"))
        events = [event for event in document["traceEvents"] if event["ph"] != "M"]
        assert len(events) == 24 and document["otherData"]["truncated"] is not complete
        assert max(event["ts"] for event in events) < 4.0


def test_pipelined_bursts_do_not_overlap(seed):
    """Trace viewers nest what overlaps, and drop what does not nest."""
    bursts = [interval for interval in a_run(seed) if interval.activity is Activity.BURST]
    assert len(bursts) == 200
    for before, after in itertools.pairwise(bursts):
        assert before.end <= after.start < after.end


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_figure(suffix, seed, tmp_path):
    path = tmp_path / f"timeline.{suffix}"
    draw_timeline(a_run(seed), SMALL, path, title="one iteration")
    assert path.stat().st_size > 10_000
    if suffix == "svg":
        text = path.read_text(encoding="utf-8")
        for colour in ("#ff9f4a", "#9467bd", "#1f77b4", "#2ca02c", "#d62728"):
            assert colour in text


def test_figure_of_nothing(tmp_path):
    draw_timeline([], PRESETS["behemoth"], tmp_path / "timeline.png")


def test_a_figure_of_an_unknown_format(tmp_path):
    with pytest.raises(OutputError, match=r"timeline\.doc: expected a figure that ends with"):
        draw_timeline([], SMALL, tmp_path / "timeline.doc")
