"""Every operation and action on every state of a zone, with every number of resources in use."""

from itertools import product

import cocotb
from cocotb.triggers import Timer
from zone_kit import pack
from zone_twin import ACTIVE, CLOSED, OPEN, Request, Zone, ZoneTwin

from flashtrain.rtl.layouts import Command, Operation
from flashtrain.rtl.zones.conditions import ZoneCondition, ZonesInUse
from flashtrain.spec import Status, ZoneAction, ZoneState, preset

CONFIG = preset("tiny")
CAPACITY, SIZE = CONFIG.geometry.zone_capacity, CONFIG.geometry.zone_size
COMMAND, CONDITION, IN_USE = Command(CONFIG), ZoneCondition(CONFIG), ZonesInUse(CONFIG)


def in_use(twin: ZoneTwin) -> tuple[int, int]:
    states = [zone.state for zone in twin.of(0)]
    return sum(state in OPEN for state in states), sum(state in ACTIVE for state in states)


def possible(state: ZoneState, pointer: int) -> bool:
    if state is ZoneState.EMPTY:
        return pointer == 0
    return pointer < CAPACITY if state in ACTIVE else True


def situations():
    """Twins of one stream whose zone 0 is the one that counts."""
    for state, pointer in product(ZoneState, (0, 1, 5, CAPACITY - 1, CAPACITY)):
        if not possible(state, pointer):
            continue
        for others_open, others_closed in product(range(CONFIG.max_open + 1), range(CONFIG.max_active + 1)):
            twin = ZoneTwin(CONFIG, {0: range(8)})
            twin.zones[0] = Zone(state, pointer)
            for number in range(others_open):
                twin.zones[1 + number] = Zone(ZoneState.EXPLICITLY_OPEN, 1)
            for number in range(others_closed):
                twin.zones[4 + number] = Zone(CLOSED, 1)
            opened, active = in_use(twin)
            if opened <= CONFIG.max_open and active <= CONFIG.max_active:
                yield twin


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


@cocotb.test()
async def all_of_them(dut):
    seen = set()
    for twin in situations():
        before = Zone(twin.zones[0].state, twin.zones[0].pointer)
        used = in_use(twin)
        snapshot = [Zone(zone.state, zone.pointer) for zone in twin.zones]
        dut.zone.value = pack(CONDITION, state=int(before.state), pointer=before.pointer)
        dut.in_use.value = pack(IN_USE, open=used[0], active=used[1])
        for request in requests(before.pointer):
            dut.command.value = pack(
                COMMAND,
                operation=request.operation,
                offset=request.offset,
                blocks=request.blocks,
                action=int(request.action),
                select_all=request.select_all,
            )
            twin.zones = [Zone(zone.state, zone.pointer) for zone in snapshot]
            outcome = twin.execute(request)
            after = twin.zones[0]
            await Timer(1, "ns")
            where = f"{request} on {before}, {used} in use: {outcome.status.name}"
            assert int(dut.status.value) == outcome.status, where
            seen.add((request.operation, request.action, request.select_all, before.state, outcome.status))
            if outcome.status is not Status.SUCCESS:
                continue
            now = IN_USE.from_bits(int(dut.in_use_after.value))
            assert (now.open, now.active) == in_use(twin), where
            if request.operation is Operation.RESET or (
                request.select_all and request.action == ZoneAction.RESET
            ):
                continue  # the generation empties the zones
            if request.select_all and not int(dut.selected.value):
                assert after == before, where
                continue
            zone_after = CONDITION.from_bits(int(dut.zone_after.value))
            assert (zone_after.state, zone_after.pointer) == (after.state, after.pointer), where
    statuses = {status for *_, status in seen}
    expected = {
        Status.SUCCESS, Status.ZONE_BOUNDARY_ERROR, Status.ZONE_IS_FULL, Status.ZONE_IS_READ_ONLY,
        Status.ZONE_IS_OFFLINE, Status.ZONE_INVALID_WRITE, Status.TOO_MANY_ACTIVE_ZONES,
        Status.TOO_MANY_OPEN_ZONES, Status.INVALID_ZONE_TRANSITION, Status.UNWRITTEN_BLOCK,
    }  # fmt: skip
    assert statuses == expected
    pairs = {(operation, action, select_all, state) for operation, action, select_all, state, _ in seen}
    # append, write, read, reset, 2 retirements, 4 actions on one zone and on all: each on 7 states.
    assert len(pairs) == (4 + 2 + 8) * len(ZoneState), sorted(map(str, pairs))
