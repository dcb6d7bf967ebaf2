"""The model beside the RTL: completion times, what arrays and buses did, and counters."""

import numpy as np
import pytest

from flashtrain.host import Device, open_device
from flashtrain.model import ModelLink
from flashtrain.perf.codec.contents import Contents
from flashtrain.perf.model_error.observe import observe
from flashtrain.perf.model_error.point import Quantity, Role, Run
from flashtrain.perf.model_error.workloads.coded import CodedAppendsAndReads
from flashtrain.perf.model_error.workloads.reads import Reads
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.trace import Kind
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import SINGLE_NODE, Codec
from tests.configurations import configuration

MEMORY_BYTES = 8 << 20
ARRAYS_AND_DATA = (Kind.SENSE, Kind.PROGRAM, Kind.ERASE, Kind.DATA_IN, Kind.DATA_OUT)
TOLERANCE = 0.01


def appends_and_reads(device: Device, times: list[int]) -> None:
    """Pieces of several lengths: dense, half zero and random, which matters to a codec."""
    g = device.config.geometry
    stream = device.stream("activations", Port.CORE)
    pieces = [device.buffer((n * g.page_bytes // 2,), np.uint16) for n in (1, g.channels * g.planes, 5)]
    for contents in Contents:
        for piece in pieces:
            piece[:] = contents.make(len(piece))
        pending = [stream.append_async(piece) for piece in pieces]
        stored = device.wait(pending)
        times.append(device.cycles)
        stream.flush()
        times.append(device.cycles)
        for handle in stored:
            stream.read(handle)
            times.append(device.cycles)
        stream.reset()


@pytest.mark.parametrize(("name", "codec"), [("tiny", Codec.RAW), ("tiny_full", Codec.WINDOW16)])
def test_times_and_traces(name, codec):
    """The completion times are those of the RTL within a percent; the operations are the same ones."""
    node = SINGLE_NODE.with_codecs(activations=codec)
    times: dict[str, list[int]] = {}
    operations, counters = {}, {}
    for link in (RtlLink, ModelLink):
        side = link.__name__
        with (
            link(configuration(name), MEMORY_BYTES) as opened,
            open_device(link=opened, node=node, factory=True) as device,
        ):
            begin = device.cycles
            opened.take_trace()
            opened.set_tracing(True)
            appends_and_reads(device, times.setdefault(side, []))
            times[side] = [time - begin for time in times[side]]
            opened.run(100_000)
            records = opened.take_trace()
            counters[side] = device.counters(), device.channel_counters()
        kinds = records["kind"][records["start"] >= begin]
        operations[side] = [np.count_nonzero(kinds == kind) for kind in ARRAYS_AND_DATA]
    rtl, model = times["RtlLink"], times["ModelLink"]
    assert model == pytest.approx(rtl, rel=TOLERANCE)
    assert operations["ModelLink"] == operations["RtlLink"]
    for one, other in zip(counters["ModelLink"][1], counters["RtlLink"][1], strict=True):
        for counter in ("PROGRAMS", "PAGES_PROGRAMMED", "SENSES", "PAGES_SENSED", "BUFFER_HITS", "ERASES"):
            assert one[counter] == other[counter], counter
    exact = (
        "COMMANDS",
        "PAGES_APPENDED",
        "PAGES_READ",
        "APPENDS",
        "READS",
        "ERASES",
        "WRITE_BUSY",
        "READ_BUSY",
    )
    for counter in exact:
        assert counters["ModelLink"][0][counter] == counters["RtlLink"][0][counter], counter


@pytest.mark.parametrize("depth", [1, 6])
def test_random_reads(depth):
    """The queues of the dies and the page buffers, of which `tiny` has few, fill up with six in flight."""
    workload = Reads(512, depth, 200 * 512, 24 * 512, random=True)
    run = Run("tiny", "random reads", workload, Role.HELD_OUT)
    rtl, model = (observe(run, preset("tiny"), link, MEMORY_BYTES) for link in (RtlLink, ModelLink))
    bandwidth = rtl.values[Quantity.BANDWIDTH]
    assert model.values[Quantity.BANDWIDTH] == pytest.approx(bandwidth, rel=TOLERANCE)


@pytest.mark.parametrize(
    ("contents", "codec", "depth"), [(Contents.DENSE, Codec.ROUND16, 5), (Contents.RANDOM, Codec.WINDOW16, 3)]
)
def test_coded_appends_beside_reads(contents, codec, depth):
    """Page buffers of the encoder, its ring and the decoder lane of `tiny_full` are all in use."""
    workload = CodedAppendsAndReads(contents, 1024, depth, codec, appends=12, reads=1, stored=4)
    run = Run("tiny_full", "both", workload, Role.HELD_OUT)
    rtl, model = (observe(run, TINY_FULL, link, MEMORY_BYTES) for link in (RtlLink, ModelLink))
    bandwidth = rtl.values[Quantity.BANDWIDTH]
    assert model.values[Quantity.BANDWIDTH] == pytest.approx(bandwidth, rel=TOLERANCE)
