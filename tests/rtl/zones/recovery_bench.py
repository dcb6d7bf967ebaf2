"""Recovery of the zones after a loss of power, against the model: what is refused, what is loaded, cycles."""

import random
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Operation
from flashtrain.sim.bench.rounds import rounds
from flashtrain.spec import Status, ZoneAction, ZoneState, preset
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from tests.rtl.zones.zone_environment import CLASSES, MOST_WEAR, Environment
from tests.rtl.zones.zone_helpers import cycles
from tests.rtl.zones.zone_model import Outcome, Request

CONFIG = preset("tiny")
GEOMETRY = CONFIG.geometry
ZONES, CAPACITY, SIZE = GEOMETRY.zones, GEOMETRY.zone_capacity, GEOMETRY.zone_size
ROW = GEOMETRY.channels * GEOMETRY.planes
STREAMS = {1: range(0, 4), 2: range(4, 8), 6: range(8, 12)}
CLOSED, FULL = ZoneState.CLOSED, ZoneState.FULL


async def start(dut, **options) -> Environment:
    environment = Environment(dut, CONFIG, STREAMS, **({"recover": True} | options))
    await environment.start()
    assert dut.recovering.value == environment.model.recovering
    return environment


def append(stream: int, zone: int, blocks: int = 1) -> Request:
    return Request(Operation.APPEND, stream, zone, blocks=blocks)


def read(stream: int, zone: int, offset: int = 0, blocks: int = 1) -> Request:
    return Request(Operation.READ, stream, zone, offset=offset, blocks=blocks)


def inspect(physical: int, offset: int = 0, blocks: int = 1, stream: int = 1) -> Request:
    return Request(Operation.INSPECT, stream, offset=offset, blocks=blocks, physical=physical)


def restore_stream(stream: int, generation: int) -> Request:
    return Request(Operation.RESTORE, stream, action=RestoreAction.STREAM, generation=generation)


def restore_zone(
    stream: int, zone: int, physical: int, pointer: int, state: ZoneState = CLOSED, sequence=0, wear=0,
    time=0, generation: int | None = None, unsure=0,
) -> Request:  # fmt: skip
    """Without a generation any: a zone in service has that of its stream."""
    generation = random.getrandbits(16) if generation is None else generation
    return Request(
        Operation.RESTORE, stream, zone, offset=pointer - 1, action=RestoreAction.ZONE, physical=physical,
        restored_state=state, sequence=sequence, wear=wear, time=time, generation=generation, unsure=unsure,
    )  # fmt: skip


def restore_physical(physical: int, wear: int = 0) -> Request:
    return Request(Operation.RESTORE, 1, action=RestoreAction.PHYSICAL, physical=physical, wear=wear)


def end(sequence: int = 0) -> Request:
    return Request(Operation.RESTORE, 1, action=RestoreAction.END, sequence=sequence)


async def finish(environment: Environment) -> None:
    """Wait until nothing is left to do, and check the wear of every zone."""
    await environment.idle()
    assert environment.dut.recovering.value == 0
    assert await environment.read_wear() == {zone: environment.wear[zone] for zone in range(ZONES)}


@cocotb.test()
async def what_was_restored_is_as_it_was(dut):
    """Zones are read where they lie with the identity they have, appended to, reset, and filled anew."""
    environment = await start(dut, factory=random.random() < 0.5)
    environment.pace(idle=0.2, busy=0.7, delay=20)
    top = (1 << 32) - 1
    for request in (
        restore_stream(1, 0xFFFF),
        restore_zone(1, 0, physical=7, pointer=5, sequence=1000, wear=3),
        restore_zone(1, 3, physical=2, pointer=CAPACITY, state=FULL, sequence=top, wear=MOST_WEAR),
        restore_stream(6, 12),
        restore_physical(11, wear=9),
        restore_zone(6, 1, physical=0, pointer=1, state=FULL, sequence=17),
        restore_zone(2, 2, physical=4, pointer=CAPACITY - 1, sequence=18),
        restore_physical(1, wear=8),
        restore_physical(3, wear=9),
        restore_physical(5, wear=7),
        end(sequence=5000),
        read(1, 0, offset=4), read(1, 3, blocks=CONFIG.max_blocks), read(6, 1),
        read(2, 2, offset=CAPACITY - 2),
        append(1, 0, CAPACITY - 5), append(2, 2), append(2, 1),
    ):  # fmt: skip
        assert environment.submit(request).status is Status.SUCCESS, request
    for request, status in (
        (read(1, 0, offset=CAPACITY), Status.UNWRITTEN_BLOCK),
        (read(6, 1, offset=1), Status.UNWRITTEN_BLOCK),
        (read(6, 0), Status.UNWRITTEN_BLOCK),
        (append(6, 1), Status.ZONE_IS_FULL),
        (end(), Status.COMMAND_SEQUENCE_ERROR),
    ):
        assert environment.submit(request).status is status, request
    await finish(environment)
    assert environment.identities[6] == ({"stream": 2, "zone": 6, "generation": 0, "sequence": 18}, 0)
    assert environment.identities[5] == ({"stream": 2, "zone": 5, "generation": 0, "sequence": 5000}, 8)
    assert environment.mapping[5] == 5, "the least-worn zone"
    for stream in STREAMS:
        environment.submit(Request(Operation.RECEIVE, stream, 0, descriptors=4))
    await finish(environment)
    # Generations go on from where they were.
    environment.submit(Request(Operation.RESET, 1))
    environment.submit(append(1, 1))
    await finish(environment)
    assert environment.identities[1][0] == {"stream": 1, "zone": 1, "generation": 0, "sequence": 5001}


@cocotb.test()
async def zones_out_of_service_outlive_their_generation(dut):
    """They are read with the generation of their pages, before and after a reset, and take no data."""
    environment = await start(dut)
    retired = {0: ZoneState.READ_ONLY, 1: ZoneState.OFFLINE}
    for request in (
        restore_stream(2, 7),
        *(
            restore_zone(2, zone, physical=zone, pointer=5, state=state, sequence=30 + zone, generation=3)
            for zone, state in retired.items()
        ),
        restore_zone(2, 2, physical=2, pointer=4, state=FULL, sequence=32),
        *(restore_physical(zone) for zone in range(3, 8)),
        end(sequence=40),
    ):
        assert environment.submit(request).status is Status.SUCCESS, request
    for reset in (False, True):
        if reset:
            environment.submit(Request(Operation.RESET, 2))
        for request, status in (
            (read(2, 0, blocks=5), Status.SUCCESS),
            (read(2, 0, offset=5), Status.UNWRITTEN_BLOCK),
            (read(2, 1), Status.ZONE_IS_OFFLINE),
            (read(2, 2), Status.UNWRITTEN_BLOCK if reset else Status.SUCCESS),
            (append(2, 0), Status.ZONE_IS_READ_ONLY),
            (append(2, 1), Status.ZONE_IS_OFFLINE),
            (Request(Operation.RECEIVE, 2, 0, descriptors=4), Status.SUCCESS),
        ):
            assert environment.submit(request).status is status, request
    for zone in (2, 3):
        assert environment.submit(append(2, zone)).status is Status.SUCCESS
    await finish(environment)
    assert environment.identities[4][0] == {"stream": 2, "zone": 4, "generation": 3, "sequence": 30}
    assert environment.mapping[4] == 0 and environment.mapping[5] == 1


@cocotb.test()
async def blocks_that_may_have_been_written(dut):
    """Behind the pointer of an unsure zone reads are media errors, until it is empty or filled anew."""
    environment = await start(dut)
    for request in (
        restore_zone(2, 0, physical=0, pointer=5, state=FULL, unsure=1),
        restore_zone(2, 1, physical=1, pointer=5, state=FULL),
        restore_zone(2, 2, physical=2, pointer=5, state=ZoneState.READ_ONLY, unsure=1),
        restore_zone(6, 1, physical=3, pointer=5, state=FULL, unsure=1),
        *(restore_physical(zone) for zone in range(4, ZONES)),
        end(sequence=40),
    ):
        assert environment.submit(request).status is Status.SUCCESS, request
    unwritten, lost = Status.UNWRITTEN_BLOCK, Status.UNRECOVERED_READ_ERROR
    for stream, zone, status in (
        (2, 0, lost),
        (2, 1, unwritten),
        (2, 2, lost),
        (2, 3, unwritten),
        (6, 1, lost),
    ):
        for request in (read(stream, zone, offset=5), read(stream, zone, offset=4, blocks=2)):
            expected = Status.UNWRITTEN_BLOCK if zone == 3 else status
            assert environment.submit(request).status is expected, request
    environment.submit(append(6, 2, 2))
    environment.submit(append(6, 3, 2))
    environment.submit(Request(Operation.SEND, 6, 2, action=ZoneAction.FINISH, unsure=1))
    environment.submit(Request(Operation.SEND, 6, 0, action=ZoneAction.FINISH, unsure=1))  # nothing in it
    environment.submit(Request(Operation.SEND, 6, select_all=1, action=ZoneAction.FINISH))
    for zone, status in ((0, unwritten), (2, lost), (3, unwritten)):
        assert environment.submit(read(6, zone, offset=2)).status is status, zone
    for stream in (2, 6):
        environment.submit(Request(Operation.RECEIVE, stream, 0, descriptors=4))
    environment.submit(Request(Operation.SEND, 2, 0, action=ZoneAction.RESET))
    environment.submit(Request(Operation.RESET, 6))
    for stream, zone in ((2, 0), (6, 1)):
        assert environment.submit(read(stream, zone)).status is unwritten
        assert environment.submit(append(stream, zone, 2)).status is Status.SUCCESS
        assert environment.submit(read(stream, zone, offset=2)).status is unwritten
    await finish(environment)


@cocotb.test()
async def what_was_restored_is_as_old_as_it_was(dut):
    environment = await start(dut, refusing=(1, 6), time=5000)
    minutes = CLASSES[6 % len(CLASSES)].limit
    for request in (
        restore_zone(6, 0, physical=0, pointer=2, time=5001 - minutes),
        restore_zone(6, 1, physical=1, pointer=CAPACITY, state=FULL, time=5000 - minutes),
        restore_zone(1, 0, physical=2, pointer=2),
        end(sequence=3),
    ):
        environment.submit(request)
    for time, statuses in (
        (5000, (Status.SUCCESS, Status.DATA_EXPIRED, Status.SUCCESS)),
        (5001, (Status.DATA_EXPIRED, Status.DATA_EXPIRED, Status.SUCCESS)),
    ):
        await environment.set_time(time)
        for request, status in zip((read(6, 0), read(6, 1), read(1, 0)), statuses, strict=True):
            assert environment.submit(request).status is status, request
        for stream in STREAMS:
            environment.submit(Request(Operation.RECEIVE, stream, 0, descriptors=4))
    await environment.done()


@cocotb.test()
async def nothing_but_recovery_while_recovering(dut):
    environment = await start(dut)
    everything = [
        append(2, 0), Request(Operation.WRITE, 2), read(2, 0), Request(Operation.FLUSH, 2),
        Request(Operation.RESET, 2), Request(Operation.RETIRE, 2, action=ZoneState.OFFLINE),
        Request(Operation.RECEIVE, 2, descriptors=4),
        *(Request(Operation.SEND, 2, action=a, select_all=s) for a in ZoneAction for s in (0, 1)),
        *(Request(Operation.GENERATION, 2, source=1, action=action) for action in GenerationAction),
        *(Request(op, 2, blocks=GEOMETRY.channels) for op in (Operation.CONSTANTS, Operation.STATISTICS)),
        Request(Operation.UPDATE, 2, source=1, rows=1, pages=1, blocks=GEOMETRY.channels),
    ]  # fmt: skip
    refused = {request.operation for request in everything}
    assert refused == set(Operation) - {Operation.INVALID, Operation.INSPECT, Operation.RESTORE}
    for request in everything:
        assert environment.submit(request).status is Status.NAMESPACE_NOT_READY, request
    environment.submit(Request(Operation.RESTORE, 1, action=RestoreAction.END, status=Status.INVALID_FIELD))
    await environment.done()
    assert dut.recovering.value == 1 and dut.idle.value == 1
    for number in range(8):
        assert int(getattr(dut, f"generation__{number}").value) == 0
    environment.submit(end())
    environment.submit(read(2, 0))
    await finish(environment)
    assert environment.statuses[Status.UNWRITTEN_BLOCK] == 1


@cocotb.test()
async def no_recovery_but_while_recovering(dut):
    environment = await start(dut, recover=False)
    for request in (
        inspect(0), restore_stream(2, 4), restore_zone(2, 0, physical=3, pointer=2), restore_physical(4, 9),
        end(3),
    ):  # fmt: skip
        assert environment.submit(request).status is Status.COMMAND_SEQUENCE_ERROR, request
    environment.submit(append(2, 0))
    await finish(environment)
    assert environment.identities[4] == ({"stream": 2, "zone": 4, "generation": 0, "sequence": 0}, 0)


@cocotb.test()
async def what_a_restored_zone_must_be(dut):
    """Empty, its pointer within the capacity, with resources of its stream. A refusal changes nothing."""
    environment = await start(dut)
    past = Status.ZONE_BOUNDARY_ERROR
    for request, status in (
        (restore_zone(2, 0, physical=3, pointer=CAPACITY + 1, state=FULL), past),
        (restore_zone(2, 0, physical=3, pointer=SIZE), past),
        (restore_zone(2, 0, physical=3, pointer=CAPACITY, state=FULL), Status.SUCCESS),
        (restore_zone(2, 0, physical=4, pointer=1), Status.INVALID_ZONE_TRANSITION),
        (restore_zone(2, 1, physical=4, pointer=1), Status.SUCCESS),
        (restore_zone(2, 2, physical=5, pointer=2), Status.SUCCESS),
        (restore_zone(2, 3, physical=6, pointer=3), Status.SUCCESS),
        (restore_zone(2, 3, physical=7, pointer=3, state=FULL), Status.INVALID_ZONE_TRANSITION),
        (restore_zone(1, 0, physical=0, pointer=4), Status.SUCCESS),
        (restore_zone(1, 1, physical=1, pointer=4), Status.SUCCESS),
        (restore_zone(1, 2, physical=2, pointer=4), Status.SUCCESS),
        (restore_zone(1, 3, physical=7, pointer=CAPACITY, state=CLOSED), Status.TOO_MANY_ACTIVE_ZONES),
        (restore_zone(1, 3, physical=7, pointer=1, state=FULL), Status.SUCCESS),
        (restore_physical(8), Status.SUCCESS),
        (end(), Status.SUCCESS),
        (append(1, 0), Status.SUCCESS),
        (append(1, 1), Status.SUCCESS),
        (Request(Operation.SEND, 1, 0, action=ZoneAction.OPEN), Status.SUCCESS),
        (Request(Operation.SEND, 1, 1, action=ZoneAction.OPEN), Status.SUCCESS),
        (append(1, 2), Status.TOO_MANY_OPEN_ZONES),
        (Request(Operation.SEND, 1, 0, action=ZoneAction.FINISH), Status.SUCCESS),
        (append(1, 2), Status.SUCCESS),
        (append(6, 0), Status.SUCCESS),
    ):
        assert environment.submit(request).status is status, request
    # Nothing is left: nobody has restored the other physical zones.
    environment.submit(append(6, 1), Outcome(Status.INTERNAL_ERROR))
    await finish(environment)
    assert environment.bad == set(range(9, ZONES)) and CONFIG.max_active == 3


@cocotb.test()
async def a_stream_is_restored_before_its_zones(dut):
    environment = await start(dut)
    late = restore_stream(1, 6)
    for request, status in (
        (restore_stream(1, 4), Status.SUCCESS),
        (restore_stream(1, 5), Status.SUCCESS),
        (restore_zone(1, 1, physical=5, pointer=CAPACITY + 1), Status.ZONE_BOUNDARY_ERROR),
        (restore_stream(1, 5), Status.SUCCESS),
        (restore_zone(1, 1, physical=5, pointer=3), Status.SUCCESS),
        (late, Status.COMMAND_SEQUENCE_ERROR),
        (restore_stream(2, 6), Status.SUCCESS),
        (end(), Status.SUCCESS),
        (late, Status.COMMAND_SEQUENCE_ERROR),
        (read(1, 1, offset=2), Status.SUCCESS),
    ):
        assert environment.submit(request).status is status, request
    await finish(environment)


@cocotb.test()
async def without_a_zone_to_erase_appends_fail_at_once(dut):
    environment = await start(dut)
    environment.submit(restore_zone(2, 0, physical=3, pointer=1))
    environment.submit(end())
    environment.submit(append(2, 0))
    environment.submit(append(2, 1), Outcome(Status.INTERNAL_ERROR))
    await finish(environment)
    environment.submit(Request(Operation.RESET, 2))
    environment.submit(append(2, 2))
    await finish(environment)
    assert environment.mapping == {6: 3} and environment.wear[3] == 1


@cocotb.test()
async def inspections(dut):
    """Any block below the capacity of any physical zone, whatever its namespace and what was restored."""
    environment = await start(dut)
    environment.pace(idle=0.2, busy=0.6, delay=30)
    environment.submit(restore_zone(1, 1, physical=5, pointer=3))
    for _ in range(rounds(60)):
        offset = random.choice((0, CAPACITY - 1, random.randrange(SIZE)))
        left = max(1, min(CAPACITY - offset, CONFIG.max_blocks))
        blocks = random.choice((1, left, min(left + 1, CONFIG.max_blocks)))
        stream = random.choice(list(STREAMS))
        environment.submit(inspect(random.randrange(ZONES), offset, blocks, stream))
    await environment.done()
    assert {*environment.statuses} == {Status.SUCCESS, Status.ZONE_BOUNDARY_ERROR}


@cocotb.test()
async def the_end_waits_for_inspections_and_erases_for_the_end(dut):
    environment = await start(dut)
    environment.hold = True
    for physical in range(4):
        environment.submit(restore_physical(physical, wear=physical))
        environment.submit(inspect(physical, stream=6))
    environment.submit(end(77))
    environment.submit(append(2, 0))
    await cycles(dut, 6 * ZONES)
    assert dut.recovering.value == 1 and dut.idle.value == 0 and environment.erases == 0
    environment.hold = False
    await finish(environment)
    assert environment.erases == 4
    assert environment.identities[4] == ({"stream": 2, "zone": 4, "generation": 0, "sequence": 77}, 1)


@cocotb.test()
async def latency_and_throughput(dut):
    environment = await start(dut)

    async def run(requests: list[Request], sink) -> tuple[int, list[int]]:
        """Cycles from the first command to what comes of it, and from each to the next."""
        outs, offers = len(sink.offered_at), len(environment.commands.offered_at)
        for request in requests:
            environment.submit(request)
        await environment.done()
        out = sink.offered_at[outs:]
        steps = [later - sooner for sooner, later in pairwise(out)]
        return out[0] - environment.commands.offered_at[offers] - 1, steps

    answers = environment.answers
    assert await run([inspect(n) for n in range(4)], environment.read) == (6, [7] * 3)
    assert await run([restore_stream(1, n) for n in range(4)], answers) == (5, [6] * 3)
    zones = [restore_zone(stream, zone, 0, 1) for stream in STREAMS for zone in range(3)]
    assert await run(zones, answers) == (5, [7] * 8)
    assert await run([restore_physical(n) for n in range(4)], answers) == (5, [7] * 3)
    assert await run([end(), append(2, 0)], answers) == (5, [])
    assert dut.recovering.value == 0


def random_recovery(environment: Environment) -> list[Request]:
    """A device in which some physical zones hold logical ones, others are free, and a few are lost."""
    generations = {stream: random.getrandbits(16) for stream in STREAMS}
    requests = [restore_stream(stream, generation) for stream, generation in generations.items()]
    physical = random.sample(range(ZONES), ZONES)
    sequences = random.sample(range(1000), ZONES)
    rest = []
    for stream, zones in STREAMS.items():
        closed = 0
        for zone in random.sample(range(len(zones)), random.randint(0, 3)):
            closed += 1
            pointer = random.choice((ROW, 2 * ROW, random.randint(1, CAPACITY)))
            state = random.choice((CLOSED, FULL, ZoneState.READ_ONLY))
            if state is CLOSED and (pointer == CAPACITY or closed > CONFIG.max_active):
                state = FULL
            rest.append(
                restore_zone(
                    stream, zone, physical.pop(), pointer, state, sequences.pop(), random.getrandbits(8),
                    unsure=random.randrange(2),
                )
            )  # fmt: skip
    rest += [restore_physical(zone, random.getrandbits(8)) for zone in physical[random.randint(0, 1) :]]
    random.shuffle(rest)
    return [*requests, *rest, end(1000)]


@cocotb.test()
async def random_recoveries(dut):
    """Traffic of all kinds after a recovery is as it would be without one."""
    environment = await start(dut)
    environment.pace(idle=0.2, busy=0.7, delay=20, delay_erase=20)
    for request in random_recovery(environment):
        assert environment.submit(request).status is Status.SUCCESS, request
    for _ in range(rounds(150)):
        stream = random.choice(list(STREAMS))
        zone = random.randrange(4)
        pointer = environment.model.of(stream)[zone].pointer
        source = random.choice([other for other in STREAMS if other != stream])
        environment.submit(random.choice((
            append(stream, zone, random.randint(1, 6)),
            read(stream, zone, offset=random.randint(0, max(pointer - 1, 0))),
            Request(Operation.SEND, stream, zone, action=random.choice(list(ZoneAction))),
            Request(Operation.UPDATE, stream, zone, source=source, rows=1, pages=1, blocks=GEOMETRY.channels),
            Request(Operation.RESET, stream),
            Request(Operation.RECEIVE, stream, 0, descriptors=4),
        )))  # fmt: skip
        await RisingEdge(dut.clk)
    await finish(environment)
