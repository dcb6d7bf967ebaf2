"""Every page of a command is linked to the operations of the arrays that served it, and to no others.

The links come from seams and block numbers. They are compared with the cells: each page has an identity
(`flashtrain.spec.identity`) with stream, zone, page and die of its content.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from flashtrain.host import Device, StoredArray, labelled, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.capture import Capture, DeviceCapture
from flashtrain.sim.trace.commands import CommandSpan, StageName, command_spans
from flashtrain.sim.trace.page_links import ArrayPage, array_pages
from flashtrain.sim.trace.trace import Kind
from flashtrain.spec import Opcode, Port
from flashtrain.spec.geometry import Place
from flashtrain.spec.identity import PageIdentity

STREAM = "activations"


@dataclass(frozen=True)
class Run:
    device: Device
    capture: Capture
    spans: list[CommandSpan]


@pytest.mark.parametrize(("name", "rounds"), [("tiny", 24), ("small", 4)])
def test_commands_have_their_pages_and_these_their_operations(name, rounds, seed):
    """Appends and reads in flight at the same time, in zones that are reset and written again."""
    with open_device(name, RtlLink) as device:
        capture = DeviceCapture(device)
        capture.begin()
        _traffic(device, np.random.default_rng(seed), rounds)
        captured = capture.finish()
        run = Run(device, captured, command_spans(captured))
        _check_pages_are_those_of_the_blocks(run)
        _check_operations_hold_the_blocks(run)
        _check_programs(run)
        _check_reads(run)
        _check_stages(run)
        _check_labels(run, rounds)


def _traffic(device: Device, random: np.random.Generator, rounds: int) -> None:
    stream, page = device.stream(STREAM), device.config.geometry.page_bytes
    zone_pages = device.config.geometry.zone_capacity
    kept: list[StoredArray] = []
    for number in range(rounds):
        sizes = random.integers(1, max(2, zone_pages // 3), 3)
        with labelled(f"round {number}"):
            appends = [stream.append_async(random.integers(0, 256, n * page, np.uint8)) for n in sizes]
            reads = [stream.read_async(each) for each in kept]
        device.wait([*appends, *reads])
        new = [append.result() for append in appends]
        for stored in kept:
            stream.drop(stored)
        kept = new
    stream.flush()


def _lba(device: Device, page: ArrayPage) -> int | None:
    """The block of the stream that the cells of a page say to hold; None if they hold no page any more."""
    link = device.link
    assert isinstance(link, RtlLink)
    raw = link.raw_page(page.channel, page.die, page.plane, page.block, page.page)
    if raw is None:
        return None
    g, i = device.config.geometry, PageIdentity
    record = int.from_bytes(raw[g.page_bytes :][: i.BYTES], "little")
    assert i.stream.get(record) + 1 == device.node.named(STREAM).nsid
    first = device.node.zones(g.zones)[i.stream.get(record) + 1].start
    place = Place(
        i.zone.get(record) - first, i.page.get(record), i.die.get(record), i.plane.get(record),
        i.channel.get(record),
    )  # fmt: skip
    return g.lba(place)


def _blocks(span: CommandSpan) -> range:
    command, completion = span.logged.command, span.logged.completion
    assert completion is not None and completion.ok
    begin = completion.result if command.opcode is Opcode.ZONE_APPEND else command.slba
    return range(begin, begin + command.blocks)


def _moves_pages(span: CommandSpan) -> bool:
    return span.logged.command.opcode in (Opcode.ZONE_APPEND, Opcode.READ)


def _check_pages_are_those_of_the_blocks(run: Run) -> None:
    g = run.device.config.geometry
    moving = [span for span in run.spans if _moves_pages(span)]
    assert {span.logged.command.opcode for span in moving} == {Opcode.ZONE_APPEND, Opcode.READ}
    for span in moving:
        blocks = [g.place(block) for block in _blocks(span)]
        wanted = Counter((place.channel, place.die, place.plane, place.page) for place in blocks)
        found = Counter(
            (page.place.channel, page.place.die, page.place.plane, page.place.page) for page in span.pages
        )
        assert found == wanted


def _check_operations_hold_the_blocks(run: Run) -> None:
    """The cells agree, in all pages whose block was not erased since."""
    erased: dict[tuple[int, int, int, int], int] = {}
    for page in array_pages(run.capture.pages):
        if page.kind is Kind.ERASE:
            erased[page.channel, page.die, page.plane, page.block] = page.end
    checked = Counter()
    for span in filter(_moves_pages, run.spans):
        for page in span.pages:
            for each in page.operations:
                key = each.channel, each.die, each.plane, each.block
                if erased.get(key, -1) < each.start:
                    assert _lba(run.device, each) in _blocks(span)
                    checked[each.kind] += 1
    print(checked)
    # Little of what was written on `tiny` is there in the end.
    assert min(checked[Kind.PROGRAM], checked[Kind.SENSE]) >= (4 if run.device.config.name == "tiny" else 100)


def _check_programs(run: Run) -> None:
    """Each belongs to one command, and each written page has one, whose data came before."""
    served = Counter(
        each for span in run.spans for page in span.pages if page.writes for each in page.operations
    )
    assert set(served.values()) == {1}
    programs = {page for page in array_pages(run.capture.pages) if page.kind is Kind.PROGRAM}
    assert set(served) == programs
    for span in run.spans:
        for page in span.pages:
            if page.writes:
                (program,) = page.operations
                (transfer,) = page.transfers
                assert page.clock <= transfer.start <= transfer.end < program.start


def _check_reads(run: Run) -> None:
    """Each read that no buffer has served has a sense and a transfer, which nothing else has."""
    senses, transfers = Counter(), Counter()
    buffered = 0
    for span in run.spans:
        for page in span.pages:
            if page.writes:
                continue
            assert page.ended is not None
            buffered += not page.sensed
            assert len(page.operations) == len(page.transfers) == page.sensed
            for sense, transfer in zip(page.operations, page.transfers, strict=True):
                assert sense.end < transfer.start <= transfer.end <= page.ended
                senses[sense] += 1
                transfers[transfer] += 1
    assert set(transfers.values()) == {1}
    sensed = {page for page in array_pages(run.capture.pages) if page.kind is Kind.SENSE}
    assert set(senses) <= sensed
    out = run.capture.events[run.capture.events["kind"] == Kind.DATA_OUT]
    assert len(transfers) == len(out)
    print(len(senses), buffered)


def _check_stages(run: Run) -> None:
    for span in run.spans:
        stages = span.stages()
        assert stages[0].start == span.start and stages[-1].end == span.logged.completed
        assert all(before.end == after.start for before, after in pairwise(stages))
        order = [list(StageName).index(stage.name) for stage in stages]
        assert order == sorted(order)
        assert span.fetched is not None and span.answered is not None and span.posted is not None
        assert span.logged.completed is not None
        assert span.fetched < span.answered < span.posted <= span.logged.completed


def _check_labels(run: Run, rounds: int) -> None:
    labels = {span.logged.label for span in run.spans if _moves_pages(span)}
    assert labels == {f"round {number}" for number in range(rounds)}
    assert {span.logged.port for span in run.spans} == {Port.CORE}
