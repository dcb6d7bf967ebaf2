"""Cycles of the stages, from event traces of the RTL Link.

Each stage is what a span of the trace takes, less the stages in it that are known. Where no record of the
trace stands between two stages, the completion of a command is compared with the model's.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Link, open_device
from flashtrain.model import ModelLink
from flashtrain.model.kernel import MEMORY_LATENCY
from flashtrain.model.parameters import DATA_SHEETS, stages
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.trace import AxiChannel, Kind
from flashtrain.spec import FmsConfig, Port, preset
from flashtrain.spec.registers import Register, sq_tail_doorbell
from flashtrain.spec.streams import SINGLE_NODE, Codec

MEMORY_BYTES = 8 << 20
LINKS = (RtlLink, ModelLink)
STREAM = "activations"
KEPT = "trained"
"""A non-volatile stream."""

TINY_FULL = replace(preset("tiny_ecc"), name="tiny_full", codec=True)
"""`tiny` with a code, read levels, a randomizer, spare blocks and a codec, which share one simulator."""

DECIDE_AND_SPLIT = 8
"""From a command at the zone manager to its first page: `ZoneManager` 7 cycles, `WriteSplitter` 1."""
COMPLETION_BEATS = 2
LANES_BESIDE = 1
"""`WriteMux`, through which raw pages go where there are decoder lanes, to a page's first beat."""


class Spans(NamedTuple):
    """A command's records, as cycles: doorbell, bursts of the queue and the data ports, interrupt."""

    doorbell: int
    queue_read: int
    queue_read_end: int
    data: int
    data_end: int
    bus_end: int
    queue_write: int
    interrupt: int


class Stage(NamedTuple):
    """A stage's name, cycles, and what it spans."""

    name: str
    cycles: int
    span: str


def measure_stages() -> list[Stage]:
    """All stages of `stages.toml`, measured on `small`; those of code and codec on `tiny_full`."""
    small = preset("small")
    d = DATA_SHEETS
    place = small.write_sets + 6  # a page that opens a set (`PageSets`)
    answer = d["track"] + d["answer"]
    append, read = _append_and_read(small)

    def head(config: FmsConfig) -> int:
        spans = read if config is small else _append_and_read(config)[1]
        return spans.data_end - (config.page_beats - 1) - spans.bus_end

    def response(spans: Spans) -> int:
        return spans.queue_write - spans.data_end - MEMORY_LATENCY - d["response"] - answer

    return [
        Stage("fetch_start", append.queue_read - append.doorbell, "doorbell to the entry's burst"),
        Stage(
            "decode",
            append.data - append.queue_read_end - DECIDE_AND_SPLIT - place - d["fetch_page"],
            "last beat of an entry to the zone manager",
        ),
        Stage("arrive", append.queue_write - append.data_end - answer, "a page's last beat to the tracker"),
        Stage(
            "answered",
            append.interrupt - append.queue_write - COMPLETION_BEATS - MEMORY_LATENCY,
            "the tensor buffer's answer to a completion, to the interrupt",
        ),
        Stage("offer_page", head(small) - d["return_head"], "last beat of a page on the bus to its head"),
        Stage("correct", head(TINY_FULL) - head(preset("tiny")) - LANES_BESIDE, "the same with a code, more"),
        Stage("returned", response(read), "the tensor buffer's answer to a page, to the tracker"),
        _by_completion(small, "copy_page", _copy, "a hit's request to the complete page, but for its words"),
        _by_completion(small, "report_page", _non_volatile, "a page's result to the tracker"),
        _by_completion(small, "flushed", _flush, "the last channel's answer to a flush, to the tracker"),
        _report_interval(small),
        _by_completion(TINY_FULL, "encode_page", _encode, "a page's last beat of data to the whole page"),
        _until_loaded(TINY_FULL, "output_page", "a page's acceptance to its first beat, less its checksum"),
        _by_completion(TINY_FULL, "decode_page", _decode, "a coded page's head to its first slice"),
        Stage("reset_dies", _ready(small) - small.timing.cycles("trst"), "reset of the dies, but for tRST"),
    ]


def _append_and_read(config: FmsConfig) -> tuple[Spans, Spans]:
    """A block that is appended, and read from the array."""
    with RtlLink(config, MEMORY_BYTES) as link, open_device(link=link, factory=True) as device:
        data = device.buffer((config.geometry.page_bytes,), np.uint8)
        stream = device.stream(STREAM, Port.CORE)
        stored = []
        append = _spans(device, lambda: stored.append(stream.append(data)))
        stream.flush()
        return append, _spans(device, lambda: stream.read(stored[0], data))


def _spans(device: Device, act: Callable[[], object]) -> Spans:
    link = device.link
    assert isinstance(link, RtlLink)
    link.take_trace()
    link.set_tracing(True)
    act()
    link.set_tracing(False)
    records = link.take_trace()

    def last(kind: Kind, *details: int) -> int:
        of_kind = records[records["kind"] == kind]
        return int(of_kind[np.isin(of_kind["detail"], details)]["end"].max(initial=0))

    def first(kind: Kind, *details: int) -> int:
        of_kind = records[records["kind"] == kind]
        return int(of_kind[np.isin(of_kind["detail"], details)]["start"].min())

    data = (AxiChannel.DATA_READ, AxiChannel.DATA_WRITE)
    return Spans(
        doorbell=first(Kind.REGISTER_WRITTEN, sq_tail_doorbell(Port.CORE)),
        queue_read=first(Kind.BURST, AxiChannel.QUEUE_READ),
        queue_read_end=last(Kind.BURST_END, AxiChannel.QUEUE_READ),
        data=first(Kind.BURST, *data),
        data_end=last(Kind.BURST_END, *data),
        bus_end=_bus_end(records),
        queue_write=first(Kind.BURST, AxiChannel.QUEUE_WRITE),
        interrupt=int(records[records["kind"] == Kind.INTERRUPT_RAISED]["start"].min()),
    )


def _bus_end(records: NDArray[np.void]) -> int:
    return int(records[records["kind"] == Kind.DATA_OUT]["end"].max(initial=0))


def _by_completion(
    config: FmsConfig, name: str, command: Callable[[Device], Callable[[], object]], span: str
) -> Stage:
    """A stage on the way of a command: what the RTL takes longer than the model is missing from it."""
    rtl, model = (_cycles(link(config, MEMORY_BYTES), command) for link in LINKS)
    return Stage(name, stages()[name] + rtl - model, span)


def _cycles(link: Link, command: Callable[[Device], Callable[[], object]]) -> int:
    with link, _opened(link) as device:
        act = command(device)
        begin = device.cycles
        act()
        return device.cycles - begin


def _opened(link: Link) -> Device:
    """A device whose streams have a codec if it has them."""
    codec = Codec.WINDOW16 if link.config.codec else Codec.RAW
    return open_device(link=link, node=SINGLE_NODE.with_codecs(**{STREAM: codec, KEPT: codec}), factory=True)


def _until_loaded(config: FmsConfig, name: str, span: str) -> Stage:
    """A stage on the way of a page to its die: what the RTL takes longer is missing from it."""

    def loaded(link: RtlLink | ModelLink) -> int:
        """From an append to the first beat on the bus."""
        with link, _opened(link) as device:
            data = device.buffer((config.geometry.page_bytes,), np.uint8)
            link.set_tracing(True)
            link.take_trace()
            begin = device.cycles
            device.stream(KEPT, Port.CORE).append(data)
            records = link.take_trace()
            return int(records[records["kind"] == Kind.DATA_IN]["start"].min()) - begin

    rtl, model = (loaded(link(config, MEMORY_BYTES)) for link in LINKS)
    return Stage(name, stages()[name] + rtl - model, span)


def _encode(device: Device) -> Callable[[], object]:
    data = device.buffer((device.config.geometry.page_bytes,), np.uint8)
    return lambda: device.stream(STREAM, Port.CORE).append(data)


def _decode(device: Device) -> Callable[[], object]:
    data = device.buffer((device.config.geometry.page_bytes,), np.uint8)
    stream = device.stream(KEPT, Port.CORE)
    stored = stream.append(data)
    return lambda: stream.read(stored, data)


def _copy(device: Device) -> Callable[[], object]:
    data = device.buffer((device.config.geometry.page_bytes,), np.uint8)
    stream = device.stream(STREAM, Port.CORE)
    stored = stream.append(data)
    return lambda: stream.read(stored, data)


def _non_volatile(device: Device) -> Callable[[], object]:
    data = device.buffer((device.config.geometry.page_bytes,), np.uint8)
    stream = device.stream(KEPT, Port.CORE)
    return lambda: stream.append(data)


def _flush(device: Device) -> Callable[[], object]:
    stream = device.stream(STREAM, Port.CORE)
    return stream.flush


def _report_interval(config: FmsConfig) -> Stage:
    """Cycles per zone of a report, from reports of two lengths."""

    def cycles(skipped: int) -> int:
        def command(device: Device) -> Callable[[], object]:
            stream = device.stream(STREAM, Port.CORE)
            return lambda: stream.report(stream.zones - skipped)

        return _cycles(RtlLink(config, MEMORY_BYTES), command)

    short, long = 1, 3
    return Stage("report", round((cycles(long) - cycles(short)) / (long - short)), "a zone of a report")


class _Ready(RtlLink):
    """Notes when the controller was enabled."""

    def write_register(self, address: int, value: int) -> None:
        super().write_register(address, value)
        if address == Register.CONTROL and value:
            self.enabled = self.cycles


def _ready(config: FmsConfig) -> int:
    """Cycles from the enable to the end of the dies' reset."""
    with _Ready(config, MEMORY_BYTES) as link:
        link.set_tracing(True)
        with open_device(link=link, factory=True):
            records = link.take_trace()
            status = records[records["kind"] == Kind.STATUS]
            return int(status["end"].max()) - link.enabled
