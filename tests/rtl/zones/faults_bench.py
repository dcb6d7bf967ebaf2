"""Zones whose programs fail become read-only: which, when, and what the commands that follow find."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Operation
from flashtrain.spec import Status, ZoneAction, ZoneState, preset
from flashtrain.spec.nvme import GenerationAction
from tests.rtl.zones.zone_environment import APPENDS, Environment
from tests.rtl.zones.zone_helpers import cycles
from tests.rtl.zones.zone_model import Request

CONFIG = preset("tiny")
CAPACITY = CONFIG.geometry.zone_capacity
STREAMS = {1: range(0, 5), 4: range(5, 12)}
READ_ONLY = ZoneState.READ_ONLY


async def start(dut) -> Environment:
    environment = Environment(dut, CONFIG, STREAMS, non_volatile=tuple(STREAMS))
    await environment.start()
    return environment


def append(stream: int, zone: int, blocks: int = 1) -> Request:
    return Request(Operation.APPEND, stream, zone, blocks=blocks)


def send(stream: int, zone: int, action: ZoneAction, select_all: int = 0) -> Request:
    return Request(Operation.SEND, stream, zone, action=action, select_all=select_all)


def report(stream: int) -> Request:
    return Request(Operation.RECEIVE, stream, 0, descriptors=len(STREAMS[stream]))


async def settle(environment: Environment) -> None:
    """Until all commands have left the tracker."""
    await environment.done()
    while not environment.retired.empty:
        await RisingEdge(environment.dut.clk)


def request_at_once(environment: Environment) -> Request:
    """A command that waits for no other, of a zone in any state."""
    stream = random.choice(list(STREAMS))
    zone = random.randrange(4)
    now = environment.model.of(stream)[zone]
    blocks = random.randint(1, 3) if random.random() < 0.8 else max(1, CAPACITY - now.pointer)
    match random.choices(("append", "write", "read", "manage", "retire", "report"), (40, 10, 8, 16, 1, 4))[0]:
        case "append":
            return append(stream, zone, blocks)
        case "write":
            return Request(Operation.WRITE, stream, zone, offset=now.pointer % CAPACITY, blocks=blocks)
        case "read":
            return Request(Operation.READ, stream, zone, offset=random.randrange(now.pointer + 1) % CAPACITY)
        case "manage":
            action = random.choice((ZoneAction.OPEN, ZoneAction.CLOSE, ZoneAction.FINISH))
            return send(stream, zone, action, select_all=int(random.random() < 0.2))
        case "retire":
            return Request(
                Operation.RETIRE, stream, zone, action=random.choice((READ_ONLY, ZoneState.OFFLINE))
            )
    return report(stream)


def requests_that_wait(stream: int, zone: int) -> tuple[Request, ...]:
    """The first one waits until its stream has no command in flight."""
    generation = {action: Request(Operation.GENERATION, stream, action=action) for action in GenerationAction}
    return random.choice((
        (send(stream, zone, ZoneAction.RESET),),
        (send(stream, zone, ZoneAction.RESET, select_all=1),),
        (Request(Operation.RESET, stream),),
        (generation[GenerationAction.PIN], append(stream, zone), generation[GenerationAction.RELEASE]),
    ))  # fmt: skip


@cocotb.test()
async def programs_fail_at_random(dut):
    """Of up to six commands in flight, also several of a zone; then commands find the zones read-only."""
    environment = await start(dut)
    paces = (
        {},
        {"idle": 0.3, "busy": 0.5, "delay": 30, "delay_erase": 40},
        {"busy": 0.2, "delay": 100, "delay_erase": 10},
    )
    retired = 0
    for number in range(60):
        environment.pace(**paces[number % len(paces)])
        environment.hold = True
        faulty = set()
        for _ in range(random.randint(1, 6)):
            request = request_at_once(environment)
            fails = request.operation in APPENDS and random.random() < 0.4
            outcome = environment.submit(request, program_fails=fails)
            if fails and outcome.status is Status.SUCCESS:
                faulty.add((request.stream, request.zone))
        await environment.all_sent()
        for place in faulty:
            environment.model.program_fails(*place)
        retired += len(faulty)
        if faulty and random.random() < 0.7:
            for request in requests_that_wait(*random.choice(sorted(faulty))):
                environment.submit(request)
        environment.hold = False
        await settle(environment)
        for stream in STREAMS:
            environment.submit(report(stream))
        for stream, zone in faulty:
            environment.submit(append(stream, zone))
            environment.submit(Request(Operation.READ, stream, zone))
        if number % 4 == 3:
            await environment.idle()
            await environment.restart()
    await environment.idle()
    dut._log.info(f"{retired} zones, statuses: {environment.statuses}")
    assert retired > 20
    assert set(environment.statuses) >= {
        Status.SUCCESS, Status.ZONE_IS_READ_ONLY, Status.ZONE_IS_FULL, Status.INVALID_ZONE_TRANSITION,
        Status.NAMESPACE_WRITE_PROTECTED,
    }  # fmt: skip


@cocotb.test()
async def resources_are_given_back_once(dut):
    """All commands in flight are of one zone and fail: as many others can be active as before it was."""
    environment = await start(dut)
    environment.hold = True
    for _ in range(CONFIG.commands):
        environment.submit(append(1, 0), program_fails=True)
    await environment.all_sent()
    environment.model.program_fails(1, 0)
    environment.hold = False
    await settle(environment)
    for zone in range(1, CONFIG.max_active + 2):
        environment.submit(append(1, zone))
        environment.submit(send(1, zone, ZoneAction.CLOSE))
    await environment.idle()
    assert environment.statuses[Status.TOO_MANY_ACTIVE_ZONES] == 1
    assert environment.statuses[Status.INVALID_ZONE_TRANSITION] == 1


@cocotb.test()
async def zones_that_were_retired_meanwhile(dut):
    """They stay what they are."""
    environment = await start(dut)
    environment.hold = True
    for zone, state in enumerate((READ_ONLY, ZoneState.OFFLINE)):
        environment.submit(append(4, zone), program_fails=True)
        environment.submit(Request(Operation.RETIRE, 4, zone, action=state))
        environment.model.program_fails(4, zone)
        assert environment.model.of(4)[zone].state is state
    await environment.all_sent()
    environment.hold = False
    await settle(environment)
    environment.submit(report(4))
    await environment.idle()


@cocotb.test()
async def a_waiting_command_waits_six_cycles_more(dut):
    environment = await start(dut)
    took = []
    for zone, fails in enumerate((False, True)):
        environment.hold = True
        environment.submit(append(4, zone), program_fails=fails)
        await environment.all_sent()
        if fails:
            environment.model.program_fails(4, zone)
        environment.submit(send(4, zone, ZoneAction.RESET))
        await cycles(dut, 10)
        environment.hold = False
        await settle(environment)
        took.append(environment.answered_at[-1] - environment.retired.offered_at[-1])
    # One clock until it is taken, two until it may begin, 5 to the answer, one more. The second is refused.
    assert took == [9, 9 + 6]
    await environment.idle()


@cocotb.test()
async def zones_are_taken_while_an_opening_waits(dut):
    """The tracker may take no opening before its reports were taken, of several zones."""
    environment = await start(dut)
    environment.hold = True
    for zone in range(2):
        environment.submit(append(1, zone), program_fails=True)
    await environment.all_sent()
    environment.open.busy = 0
    environment.submit(append(1, 0))
    await RisingEdge(dut.open__valid)
    environment.hold = False
    for _ in range(10):
        await RisingEdge(dut.clk)
    assert environment.retired.empty, "a report is not taken"
    assert dut.open__valid.value == 1
    environment.open.busy = 1
    await settle(environment)
    for zone in range(2):
        environment.model.program_fails(1, zone)
    opens = [Request(Operation.SEND, 1, zone, action=ZoneAction.OPEN) for zone in (2, 3)]
    for request in (report(1), append(1, 0), *opens, append(1, 4), report(1)):
        environment.submit(request)
    await environment.idle()
    assert environment.statuses[Status.TOO_MANY_OPEN_ZONES] == 1
