"""Every operation and action on every state of a zone, with every number of resources in use.

Updates also with every state of the source's zone; streams that are pinned or uncommitted, and recovery, at
random.
"""

import random
from itertools import product

import cocotb
from cocotb.triggers import RisingEdge, Timer

from flashtrain.rtl.layouts import Command, Operation
from flashtrain.rtl.zones.generations import StreamCondition
from flashtrain.rtl.zones.state_machine import ZoneCondition, ZonesInUse
from flashtrain.sim.bench.streams import pack, start, unpack
from flashtrain.spec import Status, ZoneAction, ZoneState, preset
from flashtrain.spec.identity import RESTORED_STATES, RestoreAction
from flashtrain.spec.nvme import GenerationAction
from tests.rtl.zones.zone_model import ACTIVE, CLOSED, OPEN, AgeRule, Outcome, Request, Zone, ZoneModel

CONFIG = preset("tiny")
GEOMETRY = CONFIG.geometry
CAPACITY, SIZE = GEOMETRY.zone_capacity, GEOMETRY.zone_size
ROW = GEOMETRY.channels * GEOMETRY.planes
PAGE = ROW * GEOMETRY.dies
COMMAND, CONDITION, IN_USE = Command(CONFIG), ZoneCondition(CONFIG), ZonesInUse(CONFIG)
STREAM = StreamCondition()
SOURCE = 1  # a stream of one zone, the last


def in_use(model: ZoneModel) -> tuple[int, int]:
    states = [zone.state for zone in model.of(0)]
    return sum(state in OPEN for state in states), sum(state in ACTIVE for state in states)


def possible(state: ZoneState, pointer: int) -> bool:
    if state is ZoneState.EMPTY:
        return pointer == 0
    return pointer < CAPACITY if state in ACTIVE else True


def situations():
    """Models of one stream whose zone 0 is the one that counts."""
    for state, pointer in product(ZoneState, (0, 1, ROW, 5, CAPACITY - 1, CAPACITY)):
        if not possible(state, pointer):
            continue
        for others_open, others_closed in product(range(CONFIG.max_open + 1), range(CONFIG.max_active + 1)):
            model = ZoneModel(
                CONFIG, {0: range(8), SOURCE: range(CONFIG.geometry.zones - 1, CONFIG.geometry.zones)}
            )
            model.zones[0] = Zone(state, pointer)
            for number in range(others_open):
                model.zones[1 + number] = Zone(ZoneState.EXPLICITLY_OPEN, 1)
            for number in range(others_closed):
                model.zones[4 + number] = Zone(CLOSED, 1)
            opened, active = in_use(model)
            if opened <= CONFIG.max_open and active <= CONFIG.max_active:
                yield model


def requests(pointer: int):
    for blocks in (1, 2, CAPACITY - pointer, CAPACITY - pointer + 1):
        if 1 <= blocks <= CONFIG.max_blocks:
            yield Request(Operation.APPEND, blocks=blocks)
            for offset in {0, pointer, pointer + 1} - {SIZE}:
                yield Request(Operation.WRITE, offset=offset, blocks=blocks)
    ranges = ((0, pointer), (pointer - 1, pointer), (0, pointer + 1), (SIZE - 2, SIZE), (SIZE - 1, SIZE + 1))
    for first, end in ranges:
        if first >= 0 and 1 <= end - first <= CONFIG.max_blocks:
            yield Request(Operation.READ, offset=first, blocks=end - first)
    for action, select_all in product(ZoneAction, (0, 1)):
        yield Request(Operation.SEND, action=action, select_all=select_all)
    for target in (ZoneState.READ_ONLY, ZoneState.OFFLINE):
        yield Request(Operation.RETIRE, action=target)
    yield Request(Operation.RESET)
    for action in GenerationAction:
        yield Request(Operation.GENERATION, source=SOURCE, action=action)
    for first, blocks in ((0, 1), (CAPACITY - 1, 1), (CAPACITY - 1, 2), (SIZE - 1, 1)):
        yield Request(Operation.INSPECT, offset=first, blocks=blocks)
    for action, state in product(RestoreAction, RESTORED_STATES):
        for last in (0, CAPACITY - 1, CAPACITY, SIZE - 1):
            yield Request(Operation.RESTORE, offset=last, action=action, restored_state=state)
    for rows in (1, (CAPACITY - pointer) // ROW, (CAPACITY - pointer) // ROW + 1):
        for _ in ZoneState if rows else ():  # the source's zone is drawn for each
            page = random.choice((0, pointer // PAGE, random.randrange(GEOMETRY.pages)))
            page = min(page, GEOMETRY.pages - 1)
            yield Request(Operation.UPDATE, source=SOURCE, source_page=page, rows=rows, pages=1)


def draw_source(model: ZoneModel) -> None:
    """A zone of the source, and streams that are now and then uncommitted, pinned or restored."""
    state = random.choice(list(ZoneState))
    pointers = [pointer for pointer in (0, ROW, 2 * ROW, CAPACITY - 1, CAPACITY) if possible(state, pointer)]
    model.zones[-1] = Zone(state, random.choice(pointers))
    streams = (0, SOURCE)
    model.uncommitted = {stream for stream in streams if random.random() < 0.1}
    model.pinned = {stream for stream in streams if random.random() < 0.1}
    model.restored = {stream for stream in streams if random.random() < 0.3}


def verdict(model: ZoneModel, request: Request) -> Outcome:
    """What the model says; of a commit without the comparison of the zones, which the manager makes."""
    commits = request.operation is Operation.GENERATION and request.action is GenerationAction.COMMIT
    if commits and not model.recovering:
        return Outcome(Status.SUCCESS if 0 in model.uncommitted else Status.INVALID_FIELD)
    return model.execute(request)


@cocotb.test()
async def all_of_them(dut):
    """Command and stream come two clocks before the outputs, the source's zone one before the zone."""
    await start(dut, within=3_000_000, is_source=0)
    seen = set()
    for model in situations():
        before = Zone(model.zones[0].state, model.zones[0].pointer)
        model.ages = {stream: AgeRule(1, 1) for stream in (0, SOURCE)}
        used = in_use(model)
        snapshot = [Zone(zone.state, zone.pointer) for zone in model.zones]
        dut.in_use.value = pack(IN_USE, open=used[0], active=used[1])
        for request in requests(before.pointer):
            model.zones = [Zone(zone.state, zone.pointer) for zone in snapshot]
            draw_source(model)
            recovers = request.operation in (Operation.INSPECT, Operation.RESTORE)
            model.recovering = recovers != (random.random() < 0.1)
            dut.recovering.value = int(model.recovering)
            source = model.zones[-1]
            source.since = random.choice((0, -1, -1))
            model.zones[0].since = random.choice((0, -1, -1))
            model.zones[0].unsure = unsure = before.pointer > 0 and random.random() < 0.5
            source_pins = pack(
                CONDITION, state=int(source.state), pointer=source.pointer, expired=-source.since
            )
            expired = -model.zones[0].since
            for pins, stream in ((dut.stream, 0), (dut.source, SOURCE)):
                names = ("uncommitted", "pinned", "restored")
                flags = {name: int(stream in getattr(model, name)) for name in names}
                pins.value = pack(STREAM, **flags)
            dut.command.value = pack(
                COMMAND,
                operation=request.operation.value,
                offset=request.offset,
                blocks=request.blocks,
                action=int(request.action),
                select_all=request.select_all,
                rows=request.rows,
                source_page=request.source_page,
                restored_state=int(request.restored_state),
            )
            outcome = verdict(model, request)
            after = model.zones[0]
            await RisingEdge(dut.clk)
            if request.operation is Operation.UPDATE:
                dut.is_source.value = 1
                dut.zone.value = source_pins
                await RisingEdge(dut.clk)
            dut.is_source.value = 0
            dut.zone.value = pack(
                CONDITION, state=int(before.state), pointer=before.pointer, unsure=unsure, expired=expired
            )
            await RisingEdge(dut.clk)
            await Timer(100, "ps")
            where = f"{request} on {before}, {unsure=}, {expired=}, {used} in use: {outcome.status.name}"
            assert int(dut.status.value) == outcome.status, where
            assert int(dut.fails.value) == (outcome.status is not Status.SUCCESS), where
            seen.add((request.operation, request.action, request.select_all, before.state, outcome.status))
            if outcome.status is not Status.SUCCESS or request.operation is Operation.GENERATION:
                continue
            now = unpack(IN_USE, int(dut.in_use_after.value))
            assert (now["open"], now["active"]) == in_use(model), where
            if request.operation is Operation.RESET or (
                request.select_all and request.action == ZoneAction.RESET
            ):
                continue  # the generation empties the zones
            if request.select_all and not int(dut.selected.value):
                assert (after.state, after.pointer) == (before.state, before.pointer), where
                continue
            zone_after = unpack(CONDITION, int(dut.zone_after.value))
            assert (zone_after["state"], zone_after["pointer"]) == (after.state, after.pointer), where
    statuses = {status for *_, status in seen}
    expected = {
        Status.SUCCESS, Status.ZONE_BOUNDARY_ERROR, Status.ZONE_IS_FULL, Status.ZONE_IS_READ_ONLY,
        Status.ZONE_IS_OFFLINE, Status.ZONE_INVALID_WRITE, Status.TOO_MANY_ACTIVE_ZONES,
        Status.TOO_MANY_OPEN_ZONES, Status.INVALID_ZONE_TRANSITION, Status.UNWRITTEN_BLOCK,
        Status.NAMESPACE_NOT_READY, Status.NAMESPACE_WRITE_PROTECTED, Status.INVALID_FIELD,
        Status.COMMAND_SEQUENCE_ERROR, Status.DATA_EXPIRED, Status.UNRECOVERED_READ_ERROR,
    }  # fmt: skip
    assert statuses == expected
    pairs = {(operation, action, select_all, state) for operation, action, select_all, state, _ in seen}
    # append, write, read, reset, update, inspect, 2 retirements, 4 of generations, 5 restores, 5 actions on
    # one zone and on all: each on 7 states.
    assert len(pairs) == (6 + 2 + 4 + 5 + 10) * len(ZoneState), sorted(map(str, pairs))
