"""cocotb tests of units of the zone manager: each against a reference model, in every cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Command, Operation, Retired
from flashtrain.sim.bench.streams import pack, start
from flashtrain.spec import ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import MAX_STREAMS
from tests.rtl.side_by_side import Unit
from tests.rtl.zones.zone_units import CONFIG, zone_units

CYCLES = 2_500
IDLE_INPUTS = zone_units().idle_inputs()
COMMAND, RETIRED = Command(CONFIG), Retired(CONFIG)
ZONES = CONFIG.geometry.zones
ACTIONS = {
    Operation.SEND: list(ZoneAction),
    Operation.GENERATION: list(GenerationAction),
    Operation.RESTORE: list(RestoreAction),
}


async def started(dut, name: str) -> Unit:
    await start(dut, **IDLE_INPUTS)
    return Unit(dut, name)


def chance(share: float) -> bool:
    return random.random() < share


def a_command() -> dict[str, int]:
    operation = random.choice(list(Operation))
    return {
        "operation": operation.value,
        "stream": random.randrange(MAX_STREAMS),
        "source": random.randrange(MAX_STREAMS),
        "action": random.choice(ACTIONS.get(operation, [ZoneAction.CLOSE])).value,
    }


def must_wait(command: dict[str, int], under_way: list[dict[str, int]]) -> bool:
    """The rules of `CommandsInFlight`, one by one."""
    operation, action = Operation(command["operation"]), command["action"]
    kinds = {Operation(one["operation"]) for one in under_way}
    busy = {one["stream"] for one in under_way}
    busy |= {one["source"] for one in under_way if one["operation"] == Operation.UPDATE.value}
    own, source = command["stream"] in busy, command["source"] in busy
    match operation:
        case Operation.RESET:
            return own
        case Operation.SEND:
            return action == ZoneAction.RESET.value and own
        case Operation.GENERATION:
            return own or (action == GenerationAction.COMMIT.value and source)
        case Operation.CONSTANTS:
            return bool(kinds & {Operation.UPDATE, Operation.STATISTICS})
        case Operation.STATISTICS:
            return bool(kinds & {Operation.UPDATE, Operation.CONSTANTS})
        case Operation.UPDATE:
            return Operation.STATISTICS in kinds
        case Operation.RESTORE:
            return action == RestoreAction.END.value and bool(under_way)
    return False


@cocotb.test()
async def a_command_waits_for_those_it_depends_on(dut):
    unit = await started(dut, "in_flight")
    under_way: list[dict[str, int]] = []
    most, stalled, passed = random.randint(2, CONFIG.commands), 0, 0
    for _ in range(CYCLES):
        command = a_command()
        opened = len(under_way) < most and chance(0.5)
        retired = random.choice(under_way) if under_way and chance(0.5) else None
        unit.drive(command=pack(COMMAND, **command), opened=opened, retired=retired is not None)
        if retired:
            fields = {name: retired[name] for name in ("stream", "source", "operation")}
            unit.drive(retired_command=pack(RETIRED, **fields))
        await RisingEdge(dut.clk)
        waits = must_wait(command, under_way)
        assert unit["waits"] == waits, (command, under_way)
        assert unit["idle"] == (not under_way)
        stalled, passed = stalled + waits, passed + (not waits)
        if retired:
            under_way.remove(retired)
        if opened:
            under_way.append(command)
        if chance(0.02):
            most = random.randint(0, CONFIG.commands)
    assert stalled > CYCLES // 20 and passed > CYCLES // 20


@cocotb.test()
async def a_failed_append_retires_its_zone(dut):
    """`pending` from the cycle after the command to `read`, `store` a cycle later; others change nothing."""
    unit = await started(dut, "retirement")
    pending: tuple[int, int] | None = None
    store, held, retirements = False, (0, 0), 0
    for _ in range(CYCLES):
        valid, read = chance(0.5), pending is not None and chance(0.2)
        fields = {
            "stream": random.randrange(MAX_STREAMS), "zone": random.randrange(ZONES),
            "operation": random.choice(list(Operation)).value, "program_failed": int(chance(0.5)),
        }  # fmt: skip
        unit.drive(retired__valid=valid, retired__payload=pack(RETIRED, **fields), read=read)
        await RisingEdge(dut.clk)
        assert unit["pending"] == (pending is not None) and unit["retired__ready"] == (pending is None)
        assert unit["store"] == store
        if pending is not None or store:
            assert (unit["zone"], unit["stream"]) == held
        appends = fields["operation"] in (Operation.APPEND.value, Operation.WRITE.value)
        store = read
        if read:
            pending, retirements = None, retirements + 1
        elif pending is None and valid and fields["program_failed"] and appends:
            pending = held = (fields["zone"], fields["stream"])
    assert retirements > 10


@cocotb.test()
async def a_reset_has_every_zone_scanned(dut):
    """Since the last `start` each zone once, from where the last scan stopped."""
    unit = await started(dut, "reclaim")
    zone, left, ended = 0, 0, 0
    for _ in range(CYCLES):
        starts = chance(0.02)
        steps = not starts and left > 0 and chance(0.7)
        unit.drive(start=starts, step=steps)
        await RisingEdge(dut.clk)
        assert unit["pending"] == (left > 0) and unit["zone"] == zone
        if starts:
            left = ZONES
        elif steps:
            zone, left = (zone + 1) % ZONES, left - 1
            ended += left == 0
    assert ended > 3
