"""Optimizer steps in the zones, against the model: values, order, cycles."""

import random
from collections import Counter
from itertools import pairwise, permutations, product

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Operation
from flashtrain.sim.bench.parameters import is_long
from flashtrain.spec import Status, ZoneAction, ZoneState, preset
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import Retention
from tests.rtl.zones.zone_environment import Environment
from tests.rtl.zones.zone_helpers import cycles
from tests.rtl.zones.zone_model import Request

CONFIG = preset("tiny")
GEOMETRY = CONFIG.geometry
CAPACITY, CHANNELS = GEOMETRY.zone_capacity, GEOMETRY.channels
ROW = CHANNELS * GEOMETRY.planes  # blocks by which a row of tiles moves the write pointer
STREAMS = {1: range(0, 4), 2: range(4, 8), 6: range(8, 12)}
NON_VOLATILE = (2,)
COMMIT, PIN, RELEASE, ADVANCE = GenerationAction
PAGE = ROW * GEOMETRY.dies  # blocks of a page number


async def start(dut) -> Environment:
    environment = Environment(dut, CONFIG, STREAMS, NON_VOLATILE, refusing=(1, 6))
    await environment.start()
    await cycles(dut, 2 * GEOMETRY.zones + 10)  # until a zone is at hand
    return environment


def append(stream: int, zone: int, blocks: int = 1) -> Request:
    return Request(Operation.APPEND, stream, zone, blocks=blocks)


def send(stream: int, zone: int, action: ZoneAction, select_all: int = 0) -> Request:
    return Request(Operation.SEND, stream, zone, action=action, select_all=select_all)


def update(
    stream: int, source: int, zone: int, rows: int = 1, pages: int = 1, copies: int = 0, page: int = 0
) -> Request:
    return Request(
        Operation.UPDATE, stream, zone, source=source, source_page=page, rows=rows, pages=pages,
        copies=copies, blocks=rows * CHANNELS * pages,
    )  # fmt: skip


def next_page(environment: Environment, stream: int, zone: int) -> int:
    """The page of the zone's write pointer."""
    return min(environment.model.of(stream)[zone].pointer // PAGE, GEOMETRY.pages - 1)


def generation(action: GenerationAction, stream: int, source: int = 0) -> Request:
    return Request(Operation.GENERATION, stream, source=source, action=action)


def for_all_dies(operation: Operation, stream: int = 1) -> Request:
    return Request(operation, stream, blocks=CHANNELS * GEOMETRY.dies)


def random_update(environment: Environment, stream: int, source: int) -> Request:
    """Often as many rows as the source has more than the destination."""
    model = environment.model
    zone = random.randrange(len(STREAMS[stream]))
    missing = (model.of(source)[zone].pointer - model.of(stream)[zone].pointer) // ROW
    rows = missing if random.random() < 0.8 else random.randint(1, 6)
    pages = random.randint(1, GEOMETRY.planes)
    rows = min(max(rows, 1), CONFIG.max_blocks // (CHANNELS * pages))
    page = next_page(environment, stream, zone)
    if random.random() < 0.3:
        page = random.randrange(GEOMETRY.pages)
    return update(stream, source, zone, rows, pages, random.randint(0, pages), page)


def random_commit(environment: Environment, stream: int, source: int) -> Request:
    """Often of two streams that can be committed."""
    model = environment.model
    complete = [
        (stream, source)
        for stream, source in permutations(STREAMS, 2)
        if stream in model.uncommitted
        and all(
            new.pointer >= old.pointer for new, old in zip(model.of(stream), model.of(source), strict=True)
        )
    ]
    if complete and random.random() < 0.5:
        stream, source = random.choice(complete)
    return generation(COMMIT, stream, source)


def random_request(environment: Environment) -> Request:
    stream, source = random.sample(list(STREAMS), 2)
    zone = random.randrange(len(STREAMS[stream]))
    kind = random.choices(
        ("append", "update", "read", "commit", "advance", "pin", "release", "constants", "statistics",
         "reset", "zone", "retire"),
        (25, 40, 10, 10, 4, 4, 8, 6, 6, 4, 8, 0.4),
    )[0]  # fmt: skip
    match kind:
        case "append":
            return append(stream, zone, random.choice((ROW, ROW, 2 * ROW, 3 * ROW, 1)))
        case "update":
            return random_update(environment, stream, source)
        case "read":
            pointer = environment.model.of(stream)[zone].pointer
            return Request(Operation.READ, stream, zone, offset=random.randrange(pointer + 1), blocks=1)
        case "commit":
            return random_commit(environment, stream, source)
        case "advance":
            return generation(ADVANCE, random.choice([stream, *sorted(environment.model.uncommitted)]))
        case "pin":
            uncommitted = sorted(environment.model.uncommitted)
            return generation(PIN, random.choice([stream, *uncommitted]))
        case "release":
            return generation(RELEASE, stream)
        case "constants":
            return for_all_dies(Operation.CONSTANTS, stream)
        case "statistics":
            return for_all_dies(Operation.STATISTICS, stream)
        case "reset":
            if random.random() < 0.5:
                return send(stream, 0, ZoneAction.RESET, select_all=1)
            return Request(Operation.RESET, stream)
        case "zone":
            return send(stream, zone, random.choice(list(ZoneAction)))
    return Request(
        Operation.RETIRE, stream, zone, action=random.choice((ZoneState.READ_ONLY, ZoneState.OFFLINE))
    )


@cocotb.test()
async def random_steps(dut):
    environment = await start(dut)
    paces = (
        {},
        {"idle": 0.3, "busy": 0.5, "delay": 30, "delay_erase": 40},
        {"idle": 0.8, "delay": 5, "delay_erase": 300},
        {"busy": 0.2, "delay": 100, "delay_erase": 10},
    )
    seen: Counter[tuple[Operation, int, Status]] = Counter()
    for pace in paces:
        environment.pace(**pace)
        for _ in range(150):
            request = random_request(environment)
            outcome = environment.submit(request)
            action = request.action if request.operation is Operation.GENERATION else 0
            seen[request.operation, action, outcome.status] += 1
            if random.random() < 0.05:
                passed = random.choice((20, 40, Retention.DAYS.due))
                await environment.set_time(environment.model.now + passed)
        await environment.idle()
        await environment.restart()
    dut._log.info("covered: %s", {f"{op.name} {action} {st.name}": n for (op, action, st), n in seen.items()})
    for status in (Status.SUCCESS, Status.NAMESPACE_NOT_READY, Status.NAMESPACE_WRITE_PROTECTED,
                   Status.ZONE_INVALID_WRITE, Status.UNWRITTEN_BLOCK, Status.DATA_EXPIRED):  # fmt: skip
        assert seen[Operation.UPDATE, 0, status], status
    for wanted in ((COMMIT, Status.SUCCESS), (COMMIT, Status.INVALID_FIELD), (PIN, Status.SUCCESS),
                   (ADVANCE, Status.SUCCESS), (ADVANCE, Status.INVALID_FIELD),
                   (PIN, Status.NAMESPACE_NOT_READY), (RELEASE, Status.SUCCESS)):  # fmt: skip
        assert seen[(Operation.GENERATION, *wanted)], wanted


@cocotb.test()
async def commit_and_skip(dut):
    """Generation after generation: the state moves from stream to stream, and back after a skip."""
    environment = await start(dut)
    environment.pace(idle=0.2, busy=0.7, delay=20)
    current, other = 2, 6
    for zone, rows in ((0, 4), (0, 2), (1, 2), (3, 1)):
        assert environment.submit(append(current, zone, rows * ROW)).status is Status.SUCCESS
    for step in range(6):
        environment.submit(for_all_dies(Operation.CONSTANTS))
        for zone in (0, 1, 3):
            rows = environment.model.of(current)[zone].pointer // ROW
            for _ in range(rows):
                environment.submit(generation(COMMIT, other, current))  # too early
                page = next_page(environment, other, zone)
                environment.submit(update(other, current, zone, pages=2, copies=1, page=page))
        environment.submit(Request(Operation.READ, other, 0))
        environment.submit(for_all_dies(Operation.STATISTICS))
        if step % 3 == 1:
            environment.submit(Request(Operation.RESET, other))
        else:
            assert environment.submit(generation(COMMIT, other, current)).status is Status.SUCCESS
            environment.submit(Request(Operation.READ, other, 0))
            current, other = other, current
        environment.submit(Request(Operation.READ, current, 3, offset=ROW - 1))
        await environment.idle()
    assert len(environment.mapping) == 3
    assert environment.statuses[Status.NAMESPACE_NOT_READY] == 6


@cocotb.test()
async def a_zone_takes_generation_after_generation(dut):
    """Two streams in turn, each step behind what is not needed any more: no reset, and no other zone."""
    environment = await start(dut)
    environment.pace(idle=0.2, busy=0.7, delay=20)
    assert environment.submit(append(2, 1, PAGE)).status is Status.SUCCESS
    current, other = (2, 0), (6, 0)  # stream and page
    for step in range(2 * GEOMETRY.pages - 1):
        (source, page), (stream, to) = current, other
        assert environment.submit(generation(ADVANCE, stream)).status is Status.INVALID_FIELD
        rows = [update(stream, source, 1, page=page)] * GEOMETRY.dies
        assert all(environment.submit(one).status is Status.SUCCESS for one in rows)
        assert environment.submit(generation(ADVANCE, stream)).status is Status.SUCCESS, step
        read = Request(Operation.READ, stream, 1, offset=to * PAGE)
        assert environment.submit(read).status is Status.SUCCESS
        current, other = other, (source, page + 1)
    assert environment.submit(update(2, 6, 1, page=0)).status is Status.ZONE_IS_FULL
    assert environment.submit(Request(Operation.RESET, 2)).status is Status.SUCCESS
    past = environment.submit(update(2, 6, 1, rows=2, page=GEOMETRY.pages - 1))
    assert past.status is Status.UNWRITTEN_BLOCK
    last = update(2, 6, 1, page=GEOMETRY.pages - 1)
    assert environment.submit(last).status is Status.SUCCESS
    assert environment.submit(generation(COMMIT, 2, 6)).status is Status.INVALID_FIELD
    assert environment.submit(generation(ADVANCE, 2)).status is Status.SUCCESS
    await environment.idle()
    assert len(environment.mapping) == 2


@cocotb.test()
async def a_pinned_source_outlives_the_commit(dut):
    environment = await start(dut)
    environment.submit(append(2, 0, ROW))
    environment.submit(generation(PIN, 2))
    for refused in (
        append(2, 0), Request(Operation.WRITE, 2, 0, offset=ROW), update(2, 1, 0),
        Request(Operation.RESET, 2), send(2, 0, ZoneAction.RESET), send(2, 0, ZoneAction.RESET, select_all=1),
        Request(Operation.RETIRE, 2, 0, action=ZoneState.READ_ONLY),
    ):  # fmt: skip
        assert environment.submit(refused).status is Status.NAMESPACE_WRITE_PROTECTED
    for allowed in (
        generation(PIN, 2), send(2, 0, ZoneAction.CLOSE), send(2, 0, ZoneAction.FINISH),
        Request(Operation.FLUSH, 2), Request(Operation.READ, 2, 0, offset=1), update(6, 2, 0),
        generation(COMMIT, 6, 2), Request(Operation.READ, 2, 0), Request(Operation.READ, 6, 0),
        generation(RELEASE, 2), generation(RELEASE, 2), Request(Operation.RESET, 2),
    ):  # fmt: skip
        assert environment.submit(allowed).status is Status.SUCCESS, allowed
    await environment.idle()


@cocotb.test()
async def every_state_of_both_zones(dut):
    environment = await start(dut)
    states = [state for state in ZoneState if state is not ZoneState.IMPLICITLY_OPEN]
    choices = states, states, (0, ROW, ROW + 1), (0, ROW, 2 * ROW)
    seen = Counter()
    for places in product(*(range(len(values)) for values in choices)):
        # In short runs a third of them, among which any two of the four meet.
        if sum(places) % 3 and not is_long():
            continue
        state, source_state, pointer, source_pointer = (
            values[place] for values, place in zip(choices, places, strict=True)
        )
        for stream, target, written in ((1, state, pointer), (6, source_state, source_pointer)):
            if written:
                environment.submit(append(stream, 1, written))
            match target:
                case ZoneState.EXPLICITLY_OPEN:
                    environment.submit(send(stream, 1, ZoneAction.OPEN))
                case ZoneState.CLOSED:
                    environment.submit(send(stream, 1, ZoneAction.OPEN))
                    environment.submit(send(stream, 1, ZoneAction.CLOSE))
                case ZoneState.FULL:
                    environment.submit(send(stream, 1, ZoneAction.FINISH))
                case ZoneState.READ_ONLY | ZoneState.OFFLINE:
                    environment.submit(Request(Operation.RETIRE, stream, 1, action=target))
        seen[environment.submit(update(1, 6, 1)).status] += 1
        environment.submit(Request(Operation.RECEIVE, 1, 0, descriptors=4))
        retired = {ZoneState.READ_ONLY, ZoneState.OFFLINE} & {state, source_state}
        for stream in (1, 6):
            environment.submit(Request(Operation.RESET, stream))
        if retired:
            await environment.idle()
            await environment.restart()
    await environment.idle()
    assert set(seen) == {
        Status.SUCCESS, Status.ZONE_IS_READ_ONLY, Status.ZONE_IS_OFFLINE, Status.ZONE_IS_FULL,
        Status.ZONE_INVALID_WRITE, Status.UNWRITTEN_BLOCK,
    }  # fmt: skip


@cocotb.test()
async def the_source_comes_before_resources(dut):
    environment = await start(dut)
    environment.submit(append(6, 3, ROW))
    for zone in range(CONFIG.max_open):
        environment.submit(send(1, zone, ZoneAction.OPEN))
    assert environment.submit(update(1, 6, 2)).status is Status.UNWRITTEN_BLOCK
    assert environment.submit(update(1, 6, 3)).status is Status.TOO_MANY_OPEN_ZONES
    environment.submit(send(1, 0, ZoneAction.CLOSE))
    assert environment.submit(update(1, 6, 2)).status is Status.UNWRITTEN_BLOCK
    assert environment.submit(update(1, 6, 3)).status is Status.SUCCESS
    assert environment.submit(update(1, 6, 3, rows=6)).status is Status.ZONE_BOUNDARY_ERROR
    environment.submit(append(6, 0, ROW))
    assert environment.submit(update(1, 6, 0)).status is Status.SUCCESS  # closes zone 3
    environment.submit(Request(Operation.RECEIVE, 1, 0, descriptors=4))
    await environment.idle()


async def cycles_of(environment: Environment, requests: list[Request], sink) -> tuple[int, list[int]]:
    """Cycles from the first command to what comes of it, and from each to the next, on an idle device."""
    await cycles(environment.dut, 4)  # until the commands before are no longer in flight
    outs, offers = len(sink.offered_at), len(environment.commands.offered_at)
    for request in requests:
        environment.submit(request)
    await environment.done()
    out = sink.offered_at[outs:]
    assert len(out) == len(requests)
    steps = [later - sooner for sooner, later in pairwise(out)]
    return out[0] - environment.commands.offered_at[offers] - 1, steps


@cocotb.test()
async def latency_and_throughput(dut):
    environment = await start(dut)
    for blocks in (16, 8):
        environment.submit(append(2, 0, blocks))
    await environment.idle()
    await cycles(dut, 2 * GEOMETRY.zones + 10)  # until a zone is at hand
    write, read, answers = environment.write, environment.read, environment.answers
    tiles = [update(6, 2, 0, page=row // GEOMETRY.dies) for row in range(6)]
    assert await cycles_of(environment, tiles, write) == (7, [8] * 5)
    assert (await cycles_of(environment, [for_all_dies(Operation.CONSTANTS)] * 4, write)) == (6, [7] * 3)
    assert (await cycles_of(environment, [for_all_dies(Operation.STATISTICS)] * 4, read)) == (6, [7] * 3)
    assert await cycles_of(environment, [generation(RELEASE, 2)] * 4, answers) == (5, [6] * 3)
    environment.submit(update(1, 2, 0))
    await environment.idle()
    assert await cycles_of(environment, [generation(ADVANCE, 1)], answers) == (5, [])
    # Two cycles for each of the four zones, 5 until the last one is compared, and one for the commit.
    assert await cycles_of(environment, [generation(COMMIT, 6, 2)], answers) == (6 + 2 * 4 + 5, [])
    await environment.idle()


@cocotb.test()
async def commands_wait_only_for_what_they_must(dut):
    """With an update in flight: constants, statistics, pins of both streams, and resets of both wait."""
    environment = await start(dut)
    environment.submit(append(2, 0, 4 * ROW))
    await environment.done()
    for request in (
        for_all_dies(Operation.CONSTANTS), for_all_dies(Operation.STATISTICS), generation(RELEASE, 2),
        generation(RELEASE, 6), generation(COMMIT, 6, 2), Request(Operation.RESET, 6),
        send(2, 1, ZoneAction.RESET),
    ):  # fmt: skip
        environment.pace(delay=0)
        opened = len(environment.open.offered_at)
        answered = len(environment.answered_at)
        environment.hold = True
        environment.submit(update(6, 2, 0, rows=1))
        environment.submit(append(1, 0))
        environment.submit(request)
        await cycles(dut, 60)
        assert environment.commands.empty is False, f"{request} has not waited"
        assert len(environment.open.offered_at) == opened + 2 and len(environment.answered_at) == answered
        environment.hold = False
        await environment.done()
        environment.submit(Request(Operation.RESET, 6))
        environment.submit(Request(Operation.RESET, 1))
        if environment.model.of(2)[0].pointer == 0:
            environment.submit(append(2, 0, 4 * ROW))
        await environment.idle()
    environment.hold = True
    environment.submit(for_all_dies(Operation.CONSTANTS, 6))
    environment.submit(update(6, 2, 0))
    environment.submit(update(6, 2, 0))
    environment.submit(generation(PIN, 1))
    await cycles(dut, 60)
    assert environment.commands.empty, "something has waited for constants"
    environment.hold = False
    await environment.done()
    environment.hold = True
    environment.submit(for_all_dies(Operation.STATISTICS))
    environment.submit(update(6, 2, 0))
    await cycles(dut, 60)
    assert not environment.commands.empty, "an update has not waited for statistics"
    environment.hold = False
    await environment.done()
    await RisingEdge(dut.clk)
