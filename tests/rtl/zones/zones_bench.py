"""The zones as a whole against the model: values, order, cycles."""

import random
from dataclasses import replace
from itertools import product

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout

from flashtrain.rtl.layouts import Command, Operation
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.spec import Status, ZoneAction, ZoneState, preset
from flashtrain.spec.nvme import ReportFilter
from flashtrain.spec.streams import Retention
from tests.rtl.zones.zone_environment import Environment
from tests.rtl.zones.zone_helpers import PERIOD_NS, Sink, clock_number, cycles, pack
from tests.rtl.zones.zone_model import Outcome, Request

TINY = preset("tiny")
ZONES = bench_parameters()["blocks"]
CONFIG = replace(TINY, geometry=replace(TINY.geometry, blocks=ZONES))
CAPACITY = CONFIG.geometry.zone_capacity
STREAMS = {0: range(0, 3), 2: range(3, 8), 7: range(8, ZONES)}
NON_VOLATILE = (2,)
DAYS = Retention.DAYS.limit
OPEN, IMPLICIT, CLOSED = ZoneState.EXPLICITLY_OPEN, ZoneState.IMPLICITLY_OPEN, ZoneState.CLOSED


async def start(dut, **options) -> Environment:
    environment = Environment(dut, CONFIG, options.pop("streams", STREAMS), NON_VOLATILE, **options)
    await environment.start()
    return environment


def send(stream: int, zone: int, action: ZoneAction, select_all: int = 0) -> Request:
    return Request(Operation.SEND, stream, zone, action=action, select_all=select_all)


def append(stream: int, zone: int, blocks: int = 1) -> Request:
    return Request(Operation.APPEND, stream, zone, blocks=blocks)


def random_request(environment: Environment) -> Request:
    """Commands that find zones in every state, and do not leave all of them retired."""
    stream = random.choice(list(environment.model.streams))
    zones = environment.model.of(stream)
    index = random.randrange(min(len(zones), 5))
    zone = zones[index]
    blocks = random.choice((1, 1, 2, 3, random.randint(1, CONFIG.max_blocks)))
    kind = random.choices(
        ("append", "write", "read", "flush", "send", "all", "reset", "retire", "report", "bad"),
        (40, 12, 25, 3, 20, 6, 2, 0.3, 4, 3),
    )[0]
    match kind:
        case "append":
            return append(stream, index, blocks)
        case "write":
            offset = zone.pointer if random.random() < 0.8 else random.randrange(CONFIG.geometry.zone_size)
            return Request(
                Operation.WRITE, stream, index, offset=offset % CONFIG.geometry.zone_size, blocks=blocks
            )
        case "read":
            offset = random.randrange(
                zone.pointer + 1 if random.random() < 0.9 else CONFIG.geometry.zone_size
            )
            offset %= CONFIG.geometry.zone_size
            return Request(
                Operation.READ, stream, index, offset=offset, blocks=min(blocks, 1 + zone.pointer // 2)
            )
        case "flush":
            return Request(Operation.FLUSH, stream)
        case "send":
            return send(stream, index, random.choice(list(ZoneAction)))
        case "all":
            return send(stream, 0, random.choice(list(ZoneAction)), select_all=1)
        case "reset":
            return Request(Operation.RESET, stream)
        case "retire":
            return Request(
                Operation.RETIRE,
                stream,
                index,
                action=random.choice((ZoneState.READ_ONLY, ZoneState.OFFLINE)),
            )
        case "report":
            first = random.choice((index, max(len(zones) - 4, 0)))
            room = random.randint(0, min(len(zones), 6))
            return Request(
                Operation.RECEIVE, stream, first, descriptors=room,
                report_filter=random.randrange(8), partial=random.getrandbits(1),
            )  # fmt: skip
    return Request(random.choice(list(Operation)), stream, status=Status.LBA_OUT_OF_RANGE)


@cocotb.test()
async def random_commands(dut):
    """Time passes now and then; the counter comes round in the midst of it."""
    environment = await start(dut, refusing=(0, 7), time=(1 << 32) - 100)
    paces = (
        {},
        {"idle": 0.3, "busy": 0.5, "delay": 30, "delay_erase": 40},
        {"idle": 0.8, "delay": 5, "delay_erase": 300},
        {"busy": 0.2, "delay": 100, "delay_erase": 10},
    )
    for pace in paces:
        environment.pace(**pace)
        for _ in range(rounds(6)):
            for _ in range(20):
                environment.submit(random_request(environment))
            passed = random.choice((0, 1, 29, 30, 31, 60, DAYS // 2, DAYS, -5))
            await environment.set_time(environment.model.now + passed)
    await environment.idle()
    dut._log.info(f"statuses: {environment.statuses}")
    assert await environment.read_wear() == {zone: environment.wear[zone] for zone in range(ZONES)}


def bring_to(environment: Environment, state: ZoneState, pointer: int) -> None:
    """Bring zone 1 of stream 2 from EMPTY into a state."""
    if pointer:
        environment.submit(append(2, 1, pointer))
    match state:
        case ZoneState.EXPLICITLY_OPEN:
            environment.submit(send(2, 1, ZoneAction.OPEN))
        case ZoneState.CLOSED:
            environment.submit(send(2, 1, ZoneAction.OPEN))
            environment.submit(send(2, 1, ZoneAction.CLOSE))
        case ZoneState.FULL:
            environment.submit(send(2, 1, ZoneAction.FINISH))
        case ZoneState.READ_ONLY | ZoneState.OFFLINE:
            environment.submit(Request(Operation.RETIRE, 2, 1, action=state))
    assert environment.model.of(2)[1].state is state


@cocotb.test(skip=ZONES > 20)
async def every_state_and_action(dut):
    environment = await start(dut)
    retirements = [
        Request(Operation.RETIRE, 2, 1, action=state) for state in (ZoneState.READ_ONLY, ZoneState.OFFLINE)
    ]
    actions = [send(2, 1, action) for action in ZoneAction]
    actions += [append(2, 1, 2), Request(Operation.READ, 2, 1, offset=1, blocks=2), *retirements]
    actions += [Request(Operation.WRITE, 2, 1, offset=offset) for offset in (0, 3)]
    for action, state, pointer in product(actions, ZoneState, (0, 3)):
        if pointer == 3 if state is ZoneState.EMPTY else state is ZoneState.IMPLICITLY_OPEN and pointer == 0:
            continue
        bring_to(environment, state, pointer)
        environment.submit(action)
        environment.submit(Request(Operation.RECEIVE, 2, 0, descriptors=5))
        environment.submit(send(2, 1, ZoneAction.RESET))
        if environment.model.of(2)[1].state is not ZoneState.EMPTY:
            await environment.idle()
            await environment.restart()
    await environment.idle()


@cocotb.test()
async def latency_and_throughput(dut):
    environment = await start(dut)
    await cycles(dut, ZONES + 10)  # until a zone is at hand
    shown = {}

    async def run(requests: list[Request], sink: Sink) -> tuple[int, float]:
        """Cycles from the first command to what comes of it, and from one to the next."""
        first = len(sink.offered_at), len(environment.commands.offered_at)
        for request in requests:
            environment.submit(request)
        await environment.done()
        out = sink.offered_at[first[0] :]
        assert len(out) == len(requests)
        begin = environment.commands.offered_at[first[1]] + 1
        return out[0] - begin, (out[-1] - out[0]) / (len(out) - 1)

    write, read, answers = environment.write, environment.read, environment.answers
    shown["append to an empty zone"] = await run([append(2, 0), append(2, 0)], write)
    shown["append"] = await run([append(2, 0)] * 6, write)
    shown["read"] = await run([Request(Operation.READ, 2, 0)] * 6, read)
    shown["flush"] = await run([Request(Operation.FLUSH, 2)] * 6, write)
    shown["append refused"] = await run([append(2, 0, CAPACITY)] * 6, answers)
    shown["zone opened"] = await run([send(2, 0, ZoneAction.OPEN)] * 6, answers)
    shown["zone reset"] = await run([send(2, 0, ZoneAction.RESET)] * 6, answers)
    shown["stream reset"] = await run([Request(Operation.RESET, 7)] * 6, answers)
    for name, (latency, interval) in shown.items():
        dut._log.info(f"{name}: latency {latency}, interval {interval} cycles")
    for name in ("append to an empty zone", "append", "read", "flush"):
        assert shown[name] == (6, 7), name
    for name in ("zone opened", "zone reset"):
        assert shown[name] == (5, 6), name
    assert shown["append refused"] == (6, 7)
    # A step of the scan is beside the answer, and once a command waits a cycle for it.
    latency, interval = shown["stream reset"]
    assert latency == 5 and 6 <= interval <= 6.2


@cocotb.test()
async def a_stream_reset_takes_no_longer_with_many_zones(dut):
    environment = await start(dut)
    zones = min(len(STREAMS[7]), 20)
    for request in (Request(Operation.RESET, 7), send(7, 0, ZoneAction.RESET, select_all=1)):
        for zone in range(zones):
            environment.submit(append(7, zone, CAPACITY))
        await environment.done(100_000)
        environment.submit(request)
        await environment.done()
        assert environment.answered_at[-1] - environment.commands.offered_at[-1] <= 8
        environment.submit(Request(Operation.RECEIVE, 7, 0, descriptors=zones))
        await environment.idle(100_000)
        assert environment.erase_pulses and not environment.mapping


@cocotb.test()
async def retired_zones_outlive_resets(dut):
    """A read-only zone keeps its data, and neither its physical zone nor that of an offline one is erased."""
    environment = await start(dut)
    for zone, state in ((0, ZoneState.READ_ONLY), (1, ZoneState.OFFLINE), (3, ZoneState.READ_ONLY)):
        if zone != 3:
            environment.submit(append(2, zone, 3))
        environment.submit(Request(Operation.RETIRE, 2, zone, action=state))
    environment.submit(append(2, 2, CAPACITY))
    for request in (Request(Operation.RESET, 2), send(2, 0, ZoneAction.RESET, select_all=1)):
        environment.submit(request)
        await environment.idle()
        environment.submit(Request(Operation.READ, 2, 0, offset=1, blocks=2))
        for zone in range(5):
            environment.submit(append(2, zone))
        environment.submit(Request(Operation.RECEIVE, 2, 0, descriptors=5))
    environment.submit(Request(Operation.RETIRE, 2, 0, action=ZoneState.OFFLINE))
    environment.submit(Request(Operation.READ, 2, 0, offset=1, blocks=2))
    await environment.idle()


async def first_answer(environment: Environment) -> None:
    while not environment.answers.offered_at:
        await RisingEdge(environment.dut.clk)


@cocotb.test()
async def resets_wait_for_their_stream_only(dut):
    environment = await start(dut)
    resets = (
        Request(Operation.RESET, 2),
        send(2, 0, ZoneAction.RESET, select_all=1),
        send(2, 1, ZoneAction.RESET),
    )
    for request in resets:
        environment.pace(delay=0)
        for zone in (0, 1):
            environment.submit(append(2, zone, 2))
        await environment.done()
        environment.pace(delay=800)  # at most: one of the two is still in flight, but for a rare chance
        environment.submit(Request(Operation.READ, 2, 0))
        environment.submit(append(2, 1))
        environment.submit(Request(Operation.RESET, 0))
        environment.submit(request)
        environment.submit(append(2, 1))
        await with_timeout(first_answer(environment), 2000 * PERIOD_NS, "ns")
        assert environment.in_flight[2] >= 1, "a reset of another stream has waited"
        await environment.done()
        environment.submit(Request(Operation.RESET, 2))
        await environment.idle()
        environment.answers.offered_at.clear()


@cocotb.test()
async def a_read_waits_for_no_number_that_may_have_come_round(dut):
    """Of a zone whose jobs are all announced it is the last announced one that is waited for: the zone's own
    can be as old as one likes."""
    environment = await start(dut)
    environment.submit(append(2, 0))
    for _ in range(5):
        environment.submit(append(2, 1))
    await environment.done()
    await cycles(dut, 4)
    assert environment.issued == environment.sent == 6
    environment.submit(Request(Operation.READ, 2, 0))
    await environment.done()
    assert environment.awaited == [6]


@cocotb.test(skip=ZONES > 20)
async def an_append_waits_for_an_erased_zone(dut):
    environment = await start(dut, factory=False)
    environment.pace(delay_erase=2000)
    environment.submit(append(0, 0))
    environment.submit(append(0, 0))
    await environment.done()
    first, second = environment.write.offered_at
    waited = first - environment.commands.offered_at[0]
    assert abs(environment.zone_waits - waited) <= 8, (environment.zone_waits, waited)
    assert second - first == 7
    environment.pace()
    await environment.idle(5000 + ZONES * (2 * ZONES + 40))
    assert environment.erase_pulses == ZONES


@cocotb.test()
async def stale_zones_are_reclaimed_behind_saturating_commands(dut):
    environment = await start(dut)
    for zone in range(3):
        environment.submit(append(0, zone, CAPACITY))
    await environment.done()
    environment.submit(Request(Operation.RESET, 0))
    for _ in range(2 * ZONES + 40):
        environment.submit(Request(Operation.READ, 2, 0))  # answered: nothing is written there
    await environment.done()
    # The zones had been released before the commands were through: only the erases are left.
    await cycles(dut, 3 * (2 * ZONES + 20))
    assert environment.erase_pulses == 3
    await environment.idle()


@cocotb.test(skip=ZONES > 20)
async def wear_is_spread(dut):
    """One logical zone is filled again and again while another one keeps its content."""
    environment = await start(dut)
    environment.submit(append(2, 3))
    for _ in range(150):
        environment.submit(append(7, 0, CAPACITY))
        environment.submit(send(7, 0, ZoneAction.RESET))
        if random.random() < 0.2:
            environment.submit(Request(Operation.RESET, 7))
        if random.random() < 0.2:
            await environment.idle()
    await environment.idle()
    wear = await environment.read_wear()
    moving = [wear[zone] for zone in wear if zone not in environment.mapping.values()]
    assert len(moving) == ZONES - 1 and sum(moving) >= 150
    assert max(moving) - min(moving) <= 2, wear


@cocotb.test(skip=ZONES > 20)
async def a_failed_erase_takes_the_zone_out_of_service(dut):
    """Physical zones fail until there are too few; then appends fail, and work again after a reset."""
    environment = await start(dut)
    good = {0, 1, 2}
    environment.failing = set(range(ZONES)) - good
    environment.submit(append(2, 0))
    for _ in range(2 * ZONES):
        environment.submit(append(7, 0))
        environment.submit(send(7, 0, ZoneAction.RESET))
        await environment.idle()
    assert environment.bad == environment.failing
    environment.submit(append(7, 0, CAPACITY))
    environment.submit(append(7, 1))
    environment.submit(append(7, 2), Outcome(Status.INTERNAL_ERROR))
    environment.submit(append(7, 1))
    environment.submit(Request(Operation.RESET, 7))
    environment.submit(append(7, 2))
    await environment.idle()


@cocotb.test()
async def a_zone_is_as_old_as_its_oldest_data(dut):
    """Also if more was appended later; a reset makes it new. Streams 0, 2 and 7 have a class each."""
    environment = await start(dut, refusing=(0, 7), time=1000)
    read = {stream: Request(Operation.READ, stream, 0) for stream in STREAMS}

    def statuses() -> list[Status]:
        for stream in STREAMS:
            environment.submit(Request(Operation.RECEIVE, stream, 0, descriptors=2))
        return [environment.submit(read[stream]).status for stream in STREAMS]

    for stream in STREAMS:
        environment.submit(append(stream, 0))
    fine, refused = Status.SUCCESS, Status.DATA_EXPIRED
    for age, expected in (
        (59, [fine, fine, fine]),
        (60, [refused, fine, fine]),
        (DAYS - 1, [refused, fine, fine]),
        (DAYS, [refused, fine, refused]),
        (Retention.YEARS.limit, [refused, fine, refused]),
    ):
        await environment.set_time(1000 + age)
        assert statuses() == expected, age
        await environment.done()
        environment.submit(append(0, 0))
    environment.submit(Request(Operation.RESET, 0))
    environment.submit(send(7, 0, ZoneAction.RESET))
    for stream in (0, 7):
        environment.submit(append(stream, 0))
    assert statuses() == [fine, fine, fine]
    await environment.idle()


@cocotb.test()
async def reports(dut):
    """All zones at every address within a page, a failing tensor buffer, and the cycles it takes."""
    environment = await start(dut)
    environment.submit(append(7, 1, 3))
    environment.submit(send(7, 2, ZoneAction.OPEN))
    await environment.idle()
    zones = len(STREAMS[7])
    begin = clock_number()
    environment.submit(Request(Operation.RECEIVE, 7, 0, descriptors=zones))
    await environment.done()
    taken = clock_number() - begin
    pages = 1 + 64 * (zones + 1) // 4096
    assert taken <= 10 * (zones + 1) + 2 * pages + 20, taken
    dut._log.info(f"report of {zones} zones: {taken} cycles, {environment.memory.bursts} bursts")

    environment.memory.fail = True
    environment.submit(Request(Operation.RECEIVE, 0, 0, descriptors=3), Outcome(Status.DATA_TRANSFER_ERROR))
    await environment.done()
    environment.memory.fail = False
    environment.memory.words.clear()
    environment.pace(idle=0.3, busy=0.6)
    for _ in range(8):
        first = random.randrange(zones)
        environment.submit(
            Request(
                Operation.RECEIVE,
                7,
                first,
                descriptors=random.randint(0, zones),
                report_filter=random.choice((0, random.randrange(8))),
                partial=random.getrandbits(1),
            )
        )
        await environment.done()


@cocotb.test()
async def reports_with_a_filter(dut):
    """A zone of each state and every filter; 5 cycles for a zone that does not match."""
    environment = await start(dut)
    zones, full = len(STREAMS[7]), CONFIG.geometry.zone_capacity
    retired = (ZoneState.READ_ONLY, ZoneState.OFFLINE)
    for zone, state in enumerate(retired):
        environment.submit(Request(Operation.RETIRE, 7, zone, action=state))
    environment.submit(append(7, 2, 3))
    environment.submit(send(7, 3, ZoneAction.OPEN))
    environment.submit(send(7, 4, ZoneAction.FINISH))
    environment.submit(send(7, 2, ZoneAction.CLOSE))
    environment.submit(append(7, 5, min(full - 1, CONFIG.max_blocks)))
    await environment.idle()
    for which in ReportFilter:
        for partial, room in ((0, zones), (0, 0), (1, 1), (1, 0)):
            first = random.choice((0, 0, random.randrange(zones)))
            request = Request(
                Operation.RECEIVE, 7, first, descriptors=room, report_filter=which, partial=partial
            )
            begin = clock_number()
            environment.submit(request)
            await environment.done()
            taken = clock_number() - begin
            assert taken <= 10 * (min(room, zones) + 1) + 5 * zones + 20, (request, taken)


@cocotb.test()
async def room_among_the_open_zones(dut):
    """The implicitly open zone with the lowest number is closed, in a cycle per zone up to it."""
    environment = await start(dut)
    assert CONFIG.max_open == 2 and CONFIG.max_active == 3
    model, everything = environment.model.of(7), Request(Operation.RECEIVE, 7, descriptors=len(STREAMS[7]))
    last = len(STREAMS[7]) - 1
    for request in (send(7, 0, ZoneAction.OPEN), append(7, last), append(7, 1)):
        assert environment.submit(request).status is Status.SUCCESS
    assert [model[zone].state for zone in (0, 1, last)] == [OPEN, IMPLICIT, CLOSED]
    environment.submit(everything)
    assert environment.submit(send(7, last, ZoneAction.OPEN)).status is Status.SUCCESS
    assert environment.submit(append(7, 1)).status is Status.TOO_MANY_OPEN_ZONES
    environment.submit(everything)
    await environment.idle()

    for request in (send(7, 0, ZoneAction.CLOSE), append(7, 1)):
        environment.submit(request)
    await environment.idle()
    begin = clock_number()
    environment.submit(send(7, 1, ZoneAction.FINISH))
    await environment.done()
    without = clock_number() - begin
    environment.submit(append(7, last - 1))
    await environment.idle()
    assert model[last - 1].state is IMPLICIT
    begin = clock_number()
    environment.submit(send(7, 0, ZoneAction.OPEN))  # closes the last but one
    await environment.done()
    assert model[last - 1].state is CLOSED
    # Its first check in 6 cycles, the scan's steps, 4 until the last one is found, and one behind its write.
    assert clock_number() - begin == without + 6 + (last - 1 + 1) + 5


@cocotb.test(skip=ZONES > 20 or cocotb.SIM_NAME.startswith("Icarus"))
async def a_generation_that_comes_round_does_not_bring_zones_back(dut):
    environment = await start(dut)
    environment.submit(append(7, 0, 3))
    environment.submit(send(7, 1, ZoneAction.FINISH))
    await environment.idle()
    written = int(dut.generation__7.value)
    environment.mapping.clear()

    environment.stop()
    dut.answers__ready.value = 1
    dut.commands__payload.value = pack(Command(CONFIG), operation=Operation.RESET, stream=7)
    dut.commands__valid.value = 1
    await Timer(65_000 * 6 * PERIOD_NS, "ns")
    for _ in range(536 * 6 + 50):
        await RisingEdge(dut.clk)
        if int(dut.generation__7.value) == written:
            break
    assert int(dut.generation__7.value) == written
    dut.commands__valid.value = 0
    environment.resume()

    environment.model.execute(Request(Operation.RESET, 7))
    environment.model.resets[7] = written
    environment.submit(Request(Operation.RECEIVE, 7, 0, descriptors=4))
    await environment.idle()


@cocotb.test()
async def each_allocation_has_its_identity(dut):
    """A zone's pages have one identity until it is emptied; the allocations are numbered from 0."""
    environment = await start(dut)
    first = STREAMS[2].start
    everything = send(2, 0, ZoneAction.RESET, select_all=1)
    resets = (send(2, 0, ZoneAction.RESET), Request(Operation.RESET, 2), everything)
    for sequence, (reset, generation) in enumerate(zip((None, *resets), (0, 0, 1, 2), strict=True)):
        if reset is not None:
            environment.submit(reset)
            await environment.idle(5000)
        for blocks in (1, 3):
            environment.submit(append(2, 0, blocks))
        environment.submit(Request(Operation.READ, 2, 0, offset=2))
        environment.submit(append(2, 1)) if sequence == 3 else None
        await environment.idle(5000)
        expected = {"stream": 2, "zone": first, "generation": generation, "sequence": sequence}
        assert environment.identities[first][0] == expected
    assert environment.identities[first + 1][0]["sequence"] == 4
    environment.submit(Request(Operation.RETIRE, 2, 0, action=ZoneState.READ_ONLY))
    environment.submit(Request(Operation.RESET, 2))
    environment.submit(Request(Operation.READ, 2, 0, offset=2))
    await environment.idle(5000)
    assert environment.identities[first][0]["generation"] == 2 and environment.model.resets[2] == 3
