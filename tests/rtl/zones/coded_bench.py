"""Zones of streams with a codec: pointers and offsets while slack returns at random times, and its cycles."""

import random
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import Operation
from flashtrain.spec import Status, ZoneAction, ZoneState, preset
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import Codec
from tests.rtl.zones.coded_environment import CodedEnvironment, coded_append
from tests.rtl.zones.zone_environment import APPENDS
from tests.rtl.zones.zone_helpers import cycles
from tests.rtl.zones.zone_model import Request

CONFIG = preset("tiny_codec")
CAPACITY = CONFIG.geometry.zone_capacity
STREAMS = {1: range(0, 5), 4: range(5, 12), 6: range(12, 15)}
CODECS = {1: Codec.WINDOW16, 4: Codec.ROUND16, 6: Codec.RAW}
NON_VOLATILE = (1, 6)


async def start(dut) -> CodedEnvironment:
    environment = CodedEnvironment(dut, CONFIG, STREAMS, NON_VOLATILE)
    await environment.start()
    return environment


def append(stream: int, zone: int, blocks: int = 1) -> Request:
    codec = CODECS[stream]
    if codec is Codec.RAW:
        return Request(Operation.APPEND, stream, zone, blocks=blocks)
    return coded_append(CONFIG, stream, zone, random.choice((codec, Codec.WINDOW16)), blocks)


def send(stream: int, zone: int, action: ZoneAction, select_all: int = 0) -> Request:
    return Request(Operation.SEND, stream, zone, action=action, select_all=select_all)


def report(stream: int) -> Request:
    return Request(Operation.RECEIVE, stream, 0, descriptors=len(STREAMS[stream]))


def random_request(environment: CodedEnvironment, stream: int, zone: int) -> Request:
    """Mostly appends to one zone, and whatever depends on a pointer that is about to return."""
    if random.random() < 0.3:
        stream, zone = random.choice(list(STREAMS)), random.randrange(3)
    pointer = environment.model.of(stream)[zone].pointer
    kinds = ("append", "write", "read", "manage", "all", "reset", "retire", "report", "flush", "pin")
    match random.choices(kinds, (60, 3, 10, 6, 2, 5, 0.5, 4, 2, 1))[0]:
        case "append":
            blocks = random.choice((1, 2, random.randint(1, 6), random.randint(5, 13)))
            return append(stream, zone, blocks)
        case "write":
            return Request(Operation.WRITE, 6, zone, offset=pointer % CAPACITY)
        case "read":
            offset = random.randrange(pointer + 1) % CAPACITY
            blocks = random.choice((1, max(1, min(pointer - offset, CONFIG.max_blocks))))
            expanded = random.randint(1, CONFIG.max_blocks)
            return Request(
                Operation.READ, stream, zone, offset=offset, blocks=blocks, codec=CODECS[stream],
                expanded=expanded,
            )  # fmt: skip
        case "manage":
            return send(stream, zone, random.choice((ZoneAction.OPEN, ZoneAction.CLOSE, ZoneAction.FINISH)))
        case "all":
            return send(stream, 0, random.choice(list(ZoneAction)), select_all=1)
        case "reset":
            return random.choice((send(stream, zone, ZoneAction.RESET), Request(Operation.RESET, stream)))
        case "retire":
            state = random.choice((ZoneState.READ_ONLY, ZoneState.OFFLINE))
            return Request(Operation.RETIRE, stream, zone, action=state)
        case "report":
            return report(stream)
        case "flush":
            return Request(Operation.FLUSH, stream)
    return Request(Operation.GENERATION, stream, action=random.choice((GenerationAction.RELEASE,) * 3 + (
        GenerationAction.PIN,
    )))  # fmt: skip


PACES = (
    {},
    {"idle": 0.3, "busy": 0.5, "delay": 20, "delay_erase": 20},
    {"busy": 0.3, "delay": 40},
    {"idle": 0.8, "busy": 0.6, "delay": 8},
)


@cocotb.test()
async def slack_returns_at_random(dut):
    """With programs that fail; tags are short now and then, so that slack comes while an opening waits."""
    environment = await start(dut)
    failed = 0
    for number in range(27):
        environment.pace(**PACES[number % len(PACES)])
        environment.hold_settled = random.random() < 0.3
        focus = random.choice((1, 1, 4, 4, 6)), random.randrange(3)
        for _ in range(random.randint(6, 20)):
            request = random_request(environment, *focus)
            fails = request.operation in APPENDS and request.stream in NON_VOLATILE and random.random() < 0.1
            environment.send(request, program_fails=fails)
        await cycles(dut, random.randint(0, 60))
        environment.hold_settled = False
        await environment.settle()
        for stream in STREAMS:
            environment.send(report(stream))
        await environment.settle()
        if number % 9 == 8:
            await environment.idle()
            failed += sum(event.slack is None for event in environment.events)
            await environment.restart()
    await environment.idle()
    dut._log.info(
        f"statuses: {environment.statuses}, bounds: {environment.bounds}, late: {environment.late}, "
        f"failed: {failed}"
    )
    assert environment.late > 2 and failed > 1
    assert min(environment.bounds[share] for share in ("all", "one block", "some")) > 1
    assert set(environment.statuses) >= {
        Status.SUCCESS, Status.ZONE_BOUNDARY_ERROR, Status.ZONE_IS_READ_ONLY, Status.UNWRITTEN_BLOCK,
    }  # fmt: skip


@cocotb.test()
async def sums_of_slack_come_round(dut):
    """In both streams, while appends are on their way that know nothing of the last slack."""
    environment = await start(dut)
    environment.stores = lambda bound: 1
    rounds = 8
    for number in range(rounds):
        environment.hold_settled = True
        for _ in range(2):
            environment.send(append(1, 0, blocks=10))
            environment.send(append(4, number % 3, blocks=10))
        await environment.all_sent()
        environment.hold_settled = False
        await environment.settle()
        for stream, zone in ((1, 0), (4, number % 3)):
            environment.send(report(stream))
            environment.send(send(stream, zone, ZoneAction.RESET))
    await environment.idle()
    assert environment.late == 2 * rounds
    assert all(environment.known(stream) > 2 * CONFIG.geometry.zone_size for stream in (1, 4))


@cocotb.test()
async def a_zone_changes_before_its_slack_returns(dut):
    """Every transition that does not wait for the append; the pointer of a full zone returns, too."""
    environment = await start(dut)
    environment.stores = lambda bound: 2
    changes = (
        (send(4, 0, ZoneAction.FINISH),),
        (send(4, 0, ZoneAction.CLOSE), append(4, 0, 2)),
        (send(4, 0, ZoneAction.OPEN), send(4, 0, ZoneAction.CLOSE, select_all=1)),
        (send(4, 0, ZoneAction.FINISH, select_all=1), append(4, 0)),
        (Request(Operation.RETIRE, 4, 0, action=ZoneState.READ_ONLY),),
        (Request(Operation.RETIRE, 4, 0, action=ZoneState.OFFLINE),),
        (append(4, 0, 9), append(4, 0)),
    )
    for requests in changes:
        environment.hold_settled = True
        environment.send(append(4, 0, 9))
        for request in (*requests, report(4)):
            environment.send(request)
        await environment.all_sent()
        assert not environment.settled_at or environment.model.of(4)[0].pointer > 2
        environment.hold_settled = False
        await environment.settle()
        for request in (report(4), Request(Operation.READ, 4, 0, offset=1, blocks=2, codec=Codec.ROUND16)):
            environment.send(request)
        environment.send(append(4, 0))
        await environment.settle()
        environment.send(report(4))
        await environment.idle()
        await environment.restart()


@cocotb.test()
async def pointers_return_while_an_opening_waits(dut):
    """The tracker may take no opening before it has the ends of appends, and the report of a failed one."""
    environment = await start(dut)
    environment.hold_settled = environment.hold = True
    environment.send(append(6, 0), program_fails=True)
    for _ in range(2):
        environment.send(append(1, 0, 4))
    await environment.all_sent()
    environment.open.busy = 0
    environment.send(append(1, 0, 4))
    await RisingEdge(dut.open__valid)
    environment.hold_settled = environment.hold = False
    for _ in range(16):
        await RisingEdge(dut.clk)
    assert len(environment.settled_at) == 2 and environment.retired.empty
    assert dut.open__valid.value == 1
    environment.open.busy = 1
    await environment.settle()
    for stream in (1, 6):
        environment.send(report(stream))
    await environment.idle()
    assert environment.model.of(6)[0].state is ZoneState.READ_ONLY


@cocotb.test()
async def an_append_to_another_zone_waits_for_the_slack(dut):
    """Appends to the same zone, to another stream and to raw ones do not, nor do reads."""
    environment = await start(dut)
    environment.hold_settled = True
    environment.send(append(1, 0))
    read = Request(Operation.READ, 1, 0, codec=Codec.WINDOW16)
    for request in (append(4, 1), append(6, 2), read, append(1, 0)):
        environment.send(request)
    await environment.all_sent()
    environment.send(append(1, 1))
    await cycles(dut, 30)
    assert not environment.settled_at and dut.open__valid.value == 0
    environment.hold_settled = False
    await environment.settle()
    opened_at = environment.open.offered_at[-1]
    # Slack is pending, then looked up and stored; the command is looked up, decided and opened.
    assert opened_at - environment.settled_at[2] == 13, (opened_at, environment.settled_at)
    await environment.idle()


@cocotb.test()
async def a_codec_takes_no_cycles(dut):
    """Latency and interval of appends are those without a codec; each slack then takes 6 cycles."""
    environment = await start(dut)
    await cycles(dut, CONFIG.geometry.zones + 10)  # until a zone is at hand
    for stream in (1, 6):
        environment.hold_settled = True
        commands, jobs = len(environment.commands.offered_at), len(environment.write.offered_at)
        for _ in range(6):
            environment.send(append(stream, 0))
        await environment.all_sent()
        offered = environment.write.offered_at[jobs:]
        assert offered[0] - environment.commands.offered_at[commands] - 1 == 6
        assert [later - now for now, later in pairwise(offered)] == [7] * 5
        environment.hold_settled = False
        await environment.settle()
    intervals = [b - a for a, b in pairwise(environment.settled_at)]
    assert min(intervals) == 7, "one is held at a time: six cycles, and one until the next is taken"
    await environment.idle()


@cocotb.test()
async def slack_and_a_failure_come_to_one_zone(dut):
    """In every order, a few cycles apart, while an opening waits: both are in the zone's entry then."""
    environment = await start(dut)
    apart = set()
    for lead in range(-6, 7):
        environment.hold_settled = environment.hold = True
        environment.send(append(1, 0, 3), program_fails=True)
        await environment.all_sent()
        environment.hold_settled = False
        await cycles(dut, 10)
        environment.hold_settled = True
        environment.send(append(1, 0, 6))
        await environment.all_sent()
        environment.open.busy = 0
        environment.send(Request(Operation.FLUSH, 1))
        await RisingEdge(dut.open__valid)
        environment.hold, environment.hold_settled = lead < 0, lead > 0
        await cycles(dut, abs(lead))
        environment.hold = environment.hold_settled = False
        await cycles(dut, 16)
        slack, failure = sorted(environment.events[1:], key=lambda event: event.slack is None)
        apart.add(slack.taken_at - failure.taken_at)
        environment.open.busy = 1
        await environment.settle()
        environment.send(report(1))
        pointer = environment.model.of(1)[0].pointer  # which the report of a retired zone does not have
        for offset in (pointer - 1, pointer):
            environment.send(Request(Operation.READ, 1, 0, offset=offset, codec=Codec.WINDOW16))
        await environment.idle()
        assert environment.model.of(1)[0].state is ZoneState.READ_ONLY
        await environment.restart()
    assert apart >= set(range(-3, 4)), apart
