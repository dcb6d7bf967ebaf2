"""cocotb tests of units of the zone manager: each against a reference model, in every cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Command, Operation, Retired, Settled
from flashtrain.sim.bench.streams import pack, start
from flashtrain.spec import Status, ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec
from tests.rtl.side_by_side import Unit
from tests.rtl.zones.zone_units import CONFIG, TINY_CODEC, zone_units

CYCLES = 2_500
IDLE_INPUTS = zone_units().idle_inputs()
COMMAND, RETIRED = Command(CONFIG), Retired(CONFIG)
CODED_COMMAND, SETTLED = Command(TINY_CODEC), Settled(TINY_CODEC)
KNOWN = 1 << TINY_CODEC.geometry.zone_size_bits + 1
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
        "status": Status.INVALID_FIELD.value if chance(0.2) else Status.SUCCESS.value,
    }


def must_wait(command: dict[str, int], under_way: list[dict[str, int]]) -> bool:
    """The rules of `CommandsInFlight`, one by one."""
    if command["status"] != Status.SUCCESS.value:
        return False
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
    waits, entering, leaving = False, [], []  # of the last cycle
    for _ in range(CYCLES):
        command = a_command()
        opened = len(under_way) + len(entering) < most and chance(0.5)
        retired = random.choice(under_way) if under_way and chance(0.5) else None
        unit.drive(command=pack(COMMAND, **command), opened=opened, retired=retired is not None)
        if retired:
            fields = {name: retired[name] for name in ("stream", "source", "operation")}
            unit.drive(retired_command=pack(RETIRED, **fields))
        await RisingEdge(dut.clk)
        assert unit["waits"] == waits
        in_flight = under_way + leaving
        waits = must_wait(command, in_flight)
        assert unit["idle"] == (not in_flight)
        stalled, passed = stalled + waits, passed + (not waits)
        leaving = [retired] if retired else []
        if retired:
            under_way.remove(retired)
        under_way += entering
        entering = [command] if opened else []
        if chance(0.02):
            most = random.randint(0, CONFIG.commands)
    assert stalled > CYCLES // 20 and passed > CYCLES // 20


@cocotb.test()
async def a_failed_append_retires_its_zone(dut):
    """`pending` from the cycle after the command to `read`, `busy` to `stored`; others change nothing."""
    unit = await started(dut, "retirement")
    pending: tuple[int, int] | None = None
    busy, held, retirements = False, (0, 0), 0
    for _ in range(CYCLES):
        valid, read = chance(0.5), pending is not None and chance(0.2)
        stored = busy and pending is None and chance(0.4)
        fields = {
            "stream": random.randrange(MAX_STREAMS), "zone": random.randrange(ZONES),
            "operation": random.choice(list(Operation)).value, "program_failed": int(chance(0.5)),
        }  # fmt: skip
        unit.drive(retired__valid=valid, retired__payload=pack(RETIRED, **fields), read=read, stored=stored)
        await RisingEdge(dut.clk)
        assert unit["pending"] == (pending is not None) and unit["retired__ready"] == (not busy)
        assert unit["busy"] == busy
        if busy:
            assert (unit["zone"], unit["stream"]) == held
        appends = fields["operation"] in (Operation.APPEND.value, Operation.WRITE.value)
        if read:
            pending, retirements = None, retirements + 1
        elif stored:
            busy = False
        elif not busy and valid and fields["program_failed"] and appends:
            busy, pending = True, (fields["zone"], fields["stream"])
            held = pending
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


class Reservations:
    """The model of `Settlement`: appends that have reserved their bound, by stream, and the slack so far."""

    def __init__(self) -> None:
        self.zones: dict[int, list[int]] = {number: [] for number in range(MAX_STREAMS)}
        self.known = dict.fromkeys(range(MAX_STREAMS), 0)

    def waits(self, command: dict[str, int]) -> bool:
        encodes = command["operation"] == Operation.APPEND.value and command["codec"] != Codec.RAW
        return encodes and any(zone != command["zone"] for zone in self.zones[command["stream"]])

    def most(self) -> int:
        return sum(len(zones) for zones in self.zones.values())

    def settle(self, stream: int, slack: int) -> None:
        self.zones[stream].pop(0)
        self.known[stream] = (self.known[stream] + slack) % KNOWN


def an_append(streams: list[int]) -> dict[str, int]:
    """Often of the few zones in which another append may be outstanding."""
    operations = (Operation.APPEND, Operation.APPEND, Operation.APPEND, Operation.WRITE, Operation.READ)
    return {
        "operation": random.choice(operations).value,
        "stream": random.choice(streams),
        "zone": random.choice((0, 1, ZONES - 1)),
        "codec": random.choice((Codec.WINDOW16, Codec.WINDOW32, Codec.ROUND16, Codec.RAW)),
    }


@cocotb.test()
async def slack_is_held_until_the_pointer_returns(dut):
    """`pending` from the cycle after the slack to `read`, `busy` to `stored`, and then `known` has it."""
    unit = await started(dut, "settlement")
    model, streams = Reservations(), random.sample(range(MAX_STREAMS), 3)
    offered: dict[str, int] | None = None
    held: dict[str, int] | None = None
    pending = busy = False
    total, stalls, turns, both = 0, 0, 0, 0
    for _ in range(2 * CYCLES):
        command = an_append(streams)
        waiting = [stream for stream, zones in model.zones.items() if zones]
        if held is not None and busy:
            # The one that is being settled is no longer on its way.
            waiting = [s for s in waiting if len(model.zones[s]) > (s == held["stream"])]
        if offered is None and waiting and chance(0.6):
            stream = random.choice(waiting)
            being_settled = held is not None and busy and held["stream"] == stream
            offered = {
                "stream": stream,
                "zone": model.zones[stream][int(being_settled)],
                "slack": random.choice((0, 1, random.randint(0, TINY_CODEC.max_blocks))),
            }
        read = pending and chance(0.4)
        stored = busy and not pending and chance(0.4)
        encodes = command["operation"] == Operation.APPEND.value and command["codec"] != Codec.RAW
        waits = model.waits(command)
        reserves = encodes and not waits and model.most() < TINY_CODEC.commands and chance(0.5)
        unit.drive(
            command=pack(CODED_COMMAND, **command), reserves=reserves, read=read, stored=stored,
            settled__valid=offered is not None, settled__payload=pack(SETTLED, **(offered or {})),
        )  # fmt: skip
        await RisingEdge(dut.clk)
        assert unit["waits"] == waits, (command, model.zones)
        assert unit["known"] == model.known[command["stream"]]
        assert unit["pending"] == pending and unit["busy"] == busy
        assert unit["settled__ready"] == (not busy)
        if busy:
            assert held is not None
            assert (unit["zone"], unit["slack"]) == (held["zone"], held["slack"])
        stalls, both = stalls + waits, both + (reserves and stored)
        taken = offered is not None and not busy
        if stored:
            assert held is not None
            model.settle(held["stream"], held["slack"])
            total, turns = total + 1, turns + (model.known[held["stream"]] < held["slack"])
        if reserves:
            model.zones[command["stream"]].append(command["zone"])
        if taken:
            held, offered = offered, None
        pending, busy = taken or (pending and not read), taken or (busy and not stored)
    assert total > 200 and stalls > 50 and turns > 3 and both > 10, (total, stalls, turns, both)
