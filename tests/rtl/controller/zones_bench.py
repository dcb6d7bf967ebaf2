"""Zones: every command in every state, limits of open and active zones, full zones, reports."""

import random

import cocotb

from flashtrain.sim.bench.environment import Environment
from flashtrain.spec import Opcode, Port, Status, ZoneAction, ZoneState
from flashtrain.spec import registers as r
from flashtrain.spec.nvme import ReportFilter
from tests.rtl.controller.fms_config import ONE_STREAM
from tests.rtl.controller.fms_helpers import CAPACITY, CONFIG, COVERAGE, GEOMETRY, begin

APPEND, WRITE, READ = Opcode.ZONE_APPEND, Opcode.WRITE, Opcode.READ
SEND, RECEIVE = Opcode.ZONE_MANAGEMENT_SEND, Opcode.ZONE_MANAGEMENT_RECEIVE
RESET, RETIRE = Opcode.STREAM_RESET, Opcode.ZONE_RETIRE
CLOSE, FINISH, OPEN, ZONE_RESET = ZoneAction.CLOSE, ZoneAction.FINISH, ZoneAction.OPEN, ZoneAction.RESET
OK = Status.SUCCESS
NO = Status.INVALID_ZONE_TRANSITION

VOLATILE, DURABLE, SECOND = 1, 2, 3
WHOLE_REPORT = 64 * (GEOMETRY.zones + 1)

# How to bring an empty zone into a state, with a block written on the way or not; and what each command then
# gets (ZNS 1.1, section 3.4.3; `spec.nvme`, check 9). Writes go to the write pointer, reads to block 0, which
# is written.
WAYS = {
    ZoneState.EMPTY: (),
    ZoneState.IMPLICITLY_OPEN: ((APPEND, 0),),
    ZoneState.EXPLICITLY_OPEN: ((SEND, OPEN),),
    ZoneState.CLOSED: ((SEND, OPEN), (SEND, CLOSE)),
    ZoneState.FULL: ((SEND, FINISH),),
    ZoneState.READ_ONLY: ((RETIRE, ZoneState.READ_ONLY),),
    ZoneState.OFFLINE: ((RETIRE, ZoneState.OFFLINE),),
}
COMMANDS = (
    (READ, 0), (SEND, CLOSE), (SEND, OPEN), (APPEND, 0), (WRITE, 0), (SEND, FINISH), (SEND, ZONE_RESET),
    (SEND, ZoneAction.OFFLINE), (RETIRE, ZoneState.READ_ONLY), (RETIRE, ZoneState.OFFLINE),
)  # fmt: skip
_FULL, _READ_ONLY, _OFFLINE = Status.ZONE_IS_FULL, Status.ZONE_IS_READ_ONLY, Status.ZONE_IS_OFFLINE
EXPECTED = {
    ZoneState.EMPTY: (Status.UNWRITTEN_BLOCK, NO, OK, OK, OK, OK, OK, NO, OK, OK),
    ZoneState.IMPLICITLY_OPEN: (OK, OK, OK, OK, OK, OK, OK, NO, OK, OK),
    ZoneState.EXPLICITLY_OPEN: (OK, OK, OK, OK, OK, OK, OK, NO, OK, OK),
    ZoneState.CLOSED: (OK, OK, OK, OK, OK, OK, OK, NO, OK, OK),
    ZoneState.FULL: (OK, NO, NO, _FULL, _FULL, OK, OK, NO, OK, OK),
    ZoneState.READ_ONLY: (OK, NO, NO, _READ_ONLY, _READ_ONLY, NO, NO, OK, NO, OK),
    ZoneState.OFFLINE: (Status.ZONE_IS_OFFLINE, NO, NO, _OFFLINE, _OFFLINE, NO, NO, OK, NO, NO),
}


def report(env: Environment, nsid: int = VOLATILE, port: Port = Port.CORE, **arguments) -> None:
    env.submit(port, RECEIVE, nsid, **{"room": WHOLE_REPORT, **arguments}, status=OK)


def zone_command(env: Environment, opcode: Opcode, action: int, zone: int, status: Status) -> None:
    """One command to a zone; a report behind it shows what became of the zone."""
    written = env.scoreboard.model.zones(VOLATILE)[zone].written
    offset = written if opcode is WRITE else 0
    env.submit(Port.CORE, opcode, VOLATILE, zone=zone, offset=offset, action=action, status=status)
    env.submit(Port.CORE, RECEIVE, VOLATILE, zone=zone, room=128, partial=True, status=OK)


async def every_command_in(env: Environment, state: ZoneState, zones: list[int]) -> None:
    """All commands to a zone in this state; those that leave it are followed by a way back into it.

    What cannot be undone comes last, on zones of its own.
    """
    zone = zones.pop()
    for (opcode, action), status in zip(COMMANDS, EXPECTED[state], strict=True):
        if opcode is RETIRE and env.scoreboard.state(VOLATILE, zone) != state:
            zone = zones.pop()
        if env.scoreboard.state(VOLATILE, zone) != state:
            env.submit(Port.CORE, SEND, VOLATILE, zone=zone, action=ZONE_RESET, status=OK)
        if env.scoreboard.state(VOLATILE, zone) != state:
            ways = WAYS[state]
            if ways[0][0] is not APPEND and (opcode is READ or random.random() < 0.3):
                ways = ((APPEND, 0), *ways)
            for way, way_action in ways:
                env.submit(Port.CORE, way, VOLATILE, zone=zone, action=way_action, status=OK)
        assert env.scoreboard.state(VOLATILE, zone) == state
        zone_command(env, opcode, action, zone, status)
        await env.drain()


@cocotb.test()
async def every_command_in_every_state(dut):
    """The zone state machine, state by state; retired zones stay lost until the next enable."""
    env = await begin(dut, node=ONE_STREAM)
    zones = list(range(GEOMETRY.zones))
    for state in ZoneState:
        if len(zones) < 3:
            await env.disable()
            await env.enable()
            zones = list(range(GEOMETRY.zones))
        await every_command_in(env, state, zones)
    await env.finish()


@cocotb.test()
async def limits_of_open_and_active_zones(dut):
    """Tiny has two open and three active zones for each stream."""
    assert (CONFIG.max_open, CONFIG.max_active) == (2, 3)
    env = await begin(dut, node=ONE_STREAM)

    def do(opcode, zone=0, action=0, status=OK, **arguments):
        env.submit(Port.CORE, opcode, VOLATILE, zone=zone, action=action, status=status, **arguments)

    do(SEND, 0, OPEN)
    do(SEND, 1, OPEN)
    do(APPEND, 2, status=Status.TOO_MANY_OPEN_ZONES)
    do(WRITE, 2, status=Status.TOO_MANY_OPEN_ZONES)
    do(SEND, 2, OPEN, status=Status.TOO_MANY_OPEN_ZONES)
    do(SEND, 0, CLOSE)
    do(SEND, 2, OPEN)  # active: 0 closed, 1 and 2 open
    do(APPEND, 3, status=Status.TOO_MANY_ACTIVE_ZONES)
    do(SEND, 3, OPEN, status=Status.TOO_MANY_ACTIVE_ZONES)
    do(APPEND, 0, status=Status.TOO_MANY_OPEN_ZONES)
    do(SEND, 0, OPEN, status=Status.TOO_MANY_OPEN_ZONES)
    do(SEND, 0, OPEN, select_all=True, status=Status.TOO_MANY_OPEN_ZONES)
    do(SEND, 3, FINISH)  # needs no resource
    report(env)
    do(SEND, 0, CLOSE, select_all=True)
    report(env)
    do(SEND, 2, FINISH)
    do(SEND, 0, OPEN, select_all=True)  # 0 and 1
    report(env)
    for options in ReportFilter:
        report(env, report_options=options, partial=options % 2)
    do(APPEND, 0, blocks=CAPACITY // 2)  # an open zone that becomes full frees its resources
    do(APPEND, 0, blocks=CAPACITY - CAPACITY // 2)
    report(env)
    do(APPEND, 4)
    do(SEND, 0, FINISH, select_all=True)
    report(env)
    do(SEND, 0, ZONE_RESET, select_all=True)
    report(env)
    do(RETIRE, 1, ZoneState.OFFLINE)
    do(RETIRE, 2, ZoneState.READ_ONLY)
    do(SEND, 0, ZoneAction.OFFLINE, select_all=True)
    do(APPEND, 3)
    do(RESET)
    report(env)
    await env.drain()
    generation = await env.registers.read(r.stream_register(VOLATILE, r.StreamRegister.GENERATION))
    assert generation == env.scoreboard.model.generation(VOLATILE) == 2
    for action in ZoneAction:
        COVERAGE.hit("select_all", action)
    await env.finish()


@cocotb.test()
async def full_zones(dut):
    """Up to the capacity, not one block further; reads up to the write pointer, and inside the zone."""
    env = await begin(dut)

    def do(opcode, offset=0, blocks=1, status=OK, zone=0):
        env.submit(Port.HOST, opcode, VOLATILE, zone=zone, offset=offset, blocks=blocks, status=status)

    do(APPEND, blocks=10)
    do(WRITE, offset=9, status=Status.ZONE_INVALID_WRITE)
    do(WRITE, offset=11, status=Status.ZONE_INVALID_WRITE)
    do(WRITE, offset=10, blocks=5)
    do(READ, offset=14, blocks=2, status=Status.UNWRITTEN_BLOCK)
    do(READ, offset=15, status=Status.UNWRITTEN_BLOCK)
    do(APPEND, blocks=10, status=Status.ZONE_BOUNDARY_ERROR)
    do(WRITE, offset=15, blocks=10, status=Status.ZONE_BOUNDARY_ERROR)
    do(APPEND, blocks=9)
    report(env, port=Port.HOST)
    do(APPEND, status=Status.ZONE_IS_FULL)
    do(WRITE, offset=CAPACITY, status=Status.ZONE_IS_FULL)
    do(READ, offset=CAPACITY - 3, blocks=3)
    do(READ, offset=CAPACITY - 3, blocks=4, status=Status.UNWRITTEN_BLOCK)
    do(READ, offset=GEOMETRY.zone_size - 1, status=Status.UNWRITTEN_BLOCK)
    do(READ, offset=GEOMETRY.zone_size - 1, blocks=2, status=Status.ZONE_BOUNDARY_ERROR)
    await env.finish()


@cocotb.test()
async def reports(dut):
    """From each zone, of each length, whole and partial."""
    env = await begin(dut)
    for zone in (0, 1, 3):
        env.submit(Port.CORE, APPEND, DURABLE, zone=zone, blocks=zone + 1)
        env.submit(Port.CORE, SEND, DURABLE, zone=zone, action=ZoneAction(zone % 3 + 1))
    await env.drain()
    for zone in range(4):
        for room in (64, 68, 124, 128, 132, 192, 64 * (5 - zone), 64 * (5 - zone) + 8, WHOLE_REPORT):
            report(
                env, DURABLE, random.choice(list(Port)), zone=zone, room=room, partial=random.random() < 0.5
            )
    await env.drain()
    COVERAGE.hit("report", "lengths")
    # A report shows what was submitted before it on the same port, though it is not programmed yet.
    env.submit(Port.CORE, APPEND, DURABLE, zone=2, blocks=3, status=OK)
    report(env, DURABLE, Port.CORE)
    await env.finish()
