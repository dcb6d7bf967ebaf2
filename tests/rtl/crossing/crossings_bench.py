"""cocotb tests of the units between two clocks. The reference models are queues of items with their times."""

import random
from collections import deque
from itertools import pairwise

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from cocotb.utils import get_sim_time

from flashtrain.spec import preset

CHANNELS = preset("tiny").geometry.channels
PAGE_BEATS = preset("tiny").page_beats
PERIODS = [(2000, 7306), (7306, 2000), (3000, 3110), (2000, 2000)]
"""Of the front end's and the channels' clock, in picoseconds."""


def now() -> int:
    return round(get_sim_time("ps"))


async def start(dut, periods: tuple[int, int], **inputs: int) -> None:
    """Run both clocks with a random phase between them, drive inputs, 0 if not given, and leave resets."""
    for name in INPUTS:
        getattr(dut, name).value = inputs.get(name, 0)
    for reset in (dut.front_rst, dut.channels_rst, dut.rst, dut.nand_rst):
        reset.value = 1
    dut.reset__request.value = 1
    sides = (dut.front_clk, dut.clk), (dut.channels_clk, dut.nand_clk)
    for clocks, period in zip(sides, periods, strict=True):
        high = random.random() < 0.5
        for clock in clocks:
            Clock(clock, period, "ps", period_high=period // 2).start(start_high=high)
    await Timer(6 * max(periods), "ps")
    await RisingEdge(dut.front_clk)
    dut.front_rst.value = dut.rst.value = 0
    await RisingEdge(dut.channels_clk)
    dut.channels_rst.value = dut.nand_rst.value = 0
    await Timer(4 * max(periods), "ps")
    await RisingEdge(dut.front_clk)


INPUTS = (
    "request__input__valid", "request__input__payload", "request__output__ready",
    "data__data", "data__data_valid", "data__read_next", "data__read_ready",
    "data__engine_read_data", "data__engine_read_valid",
    "idle__quiet", "idle__engines", "counter__select", "counter__sample", "reset__request",
)  # fmt: skip


async def send_requests(dut, items: list[int], busy: float) -> list[int]:
    """Times at which each was offered, and of its transfer."""
    times = []
    for item in items:
        while random.random() >= busy:
            await RisingEdge(dut.front_clk)
        dut.request__input__valid.value = 1
        dut.request__input__payload.value = item
        offered = now()
        await RisingEdge(dut.front_clk)
        while dut.request__input__ready.value != 1:
            await RisingEdge(dut.front_clk)
        times.append((offered, now()))
        dut.request__input__valid.value = 0
    return times


async def take(clock, valid, ready, payload, count: int, busy: float) -> list[tuple[int, int]]:
    """Items of a stream with their times; it is ready in a share `busy` of the cycles."""
    taken = []
    while len(taken) < count:
        is_ready = random.random() < busy
        ready.value = int(is_ready)
        await RisingEdge(clock)
        if is_ready and valid.value == 1:
            taken.append((now(), int(payload.value)))
    ready.value = 0
    return taken


async def take_requests(dut, count: int, busy: float) -> list[tuple[int, int]]:
    output = (dut.request__output__valid, dut.request__output__ready, dut.request__output__payload)
    return await take(dut.channels_clk, *output, count, busy)


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def a_request_is_accepted_when_it_was_taken(dut, periods):
    await start(dut, periods)
    items = [random.getrandbits(16) for _ in range(60)]
    taker = cocotb.start_soon(take_requests(dut, 60, busy=random.choice((0.3, 0.9))))
    sent = await send_requests(dut, items, busy=random.choice((0.3, 0.9)))
    taken = await taker
    assert [item for _, item in taken] == items
    for (_, accepted), (arrived, _) in zip(sent, taken, strict=True):
        assert accepted > arrived
    await RisingEdge(dut.front_clk)
    assert dut.request__waiting.value == 0


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def a_request_takes_four_cycles_of_each_clock(dut, periods):
    front, channels = periods
    await start(dut, periods)
    taker = cocotb.start_soon(take_requests(dut, 40, busy=1))
    sent = await send_requests(dut, [random.getrandbits(16) for _ in range(40)], busy=1)
    taken = await taker
    # Clocks that rise at the same time leave the order of two edges to the simulator.
    slack = channels if front == channels else 0
    for (offered, accepted), (arrived, _) in zip(sent, taken, strict=True):
        assert 3 * channels - slack < arrived - (offered + front) <= 4 * channels + slack
        assert 2 * front - slack < accepted - arrived <= 3 * front + slack
    for (_, first), (_, second) in pairwise(sent):
        assert second - first <= 4 * front + 4 * channels + slack


async def send_beats(dut, beats: list[tuple[int, int]], busy: float) -> None:
    """As `WriteFetch` does: a beat is in its registers in the cycle behind that of `data_room`."""
    left = deque(beats)
    while left:
        await RisingEdge(dut.front_clk)
        valid = dut.data__data_room.value == 1 and random.random() < busy
        channel, data = left.popleft() if valid else (0, 0)
        dut.data__data_valid.value = (1 << channel) if valid else 0
        dut.data__data.value = data
    await RisingEdge(dut.front_clk)
    dut.data__data_valid.value = 0


async def take_beats(dut, count: int) -> list[tuple[int, int, int]]:
    """Time, channel and data of beats."""
    taken = []
    while len(taken) < count:
        await RisingEdge(dut.channels_clk)
        if valid := int(dut.data__engine_data_valid.value):
            assert valid.bit_count() == 1
            taken.append((now(), valid.bit_length() - 1, int(dut.data__engine_data.value)))
    return taken


def random_beats(count: int) -> list[tuple[int, int]]:
    return [(random.randrange(CHANNELS), random.getrandbits(16 * CHANNELS)) for _ in range(count)]


@cocotb.test()
@cocotb.parametrize(periods=PERIODS, busy=[0.5, 1])
async def write_data_keep_their_order_and_rate(dut, periods, busy):
    await start(dut, periods)
    beats = random_beats(200)
    taker = cocotb.start_soon(take_beats(dut, len(beats)))
    await send_beats(dut, beats, busy)
    taken = await taker
    assert [(channel, data) for _, channel, data in taken] == beats
    if busy == 1:  # from the fortieth on the FIFO has its final level
        cycles = (taken[-1][0] - taken[40][0]) / max(periods)
        assert 158 <= cycles <= 161, cycles
    for _ in range(12):
        await RisingEdge(dut.front_clk)
    await Timer(4 * periods[1], "ps")
    for _ in range(8):
        await RisingEdge(dut.front_clk)
    assert dut.data__empty.value == 1


async def accept_heads(dut, order: list[int], busy: float) -> None:
    for channel in order:
        await RisingEdge(dut.front_clk)
        while not (dut.data__read_room.value == 1 and random.random() < busy):
            dut.data__read_next.value = 0
            await RisingEdge(dut.front_clk)
        # As the front end has it: a head is accepted in a cycle of `read_room`, which stays until then.
        dut.data__read_next.value = 1 << channel
        await RisingEdge(dut.front_clk)
        dut.data__read_next.value = 0


async def send_pages(dut, pages: list[deque[int]], busy: float) -> None:
    """Each channel offers its next beat; a beat that is offered stays."""
    offered = [False] * CHANNELS
    while any(pages):
        for channel in range(CHANNELS):
            offered[channel] = bool(pages[channel]) and (offered[channel] or random.random() < busy)
        chosen = int(dut.data__engine_read_chosen.value)
        dut.data__engine_read_valid.value = sum(one << c for c, one in enumerate(offered))
        # The shared bus: the beat of the chosen channel.
        for _ in range(2):
            await Timer(1, "ps")
            chosen = int(dut.data__engine_read_chosen.value)
            data = [pages[c][0] for c in range(CHANNELS) if chosen >> c & 1 and offered[c]]
            dut.data__engine_read_data.value = data[0] if data else 0
        await RisingEdge(dut.channels_clk)
        ready, chosen = int(dut.data__engine_read_ready.value), int(dut.data__engine_read_chosen.value)
        assert ready & ~chosen == 0
        for channel in range(CHANNELS):
            if ready >> channel & 1 and offered[channel]:
                pages[channel].popleft()
                offered[channel] = False
    dut.data__engine_read_valid.value = 0


async def take_pages(dut, beats: int, busy: float) -> list[tuple[int, int]]:
    output = (dut.data__read_valid, dut.data__read_ready, dut.data__read_data)
    return await take(dut.front_clk, *output, beats, busy)


@cocotb.test()
@cocotb.parametrize(periods=PERIODS, busy=[0.6, 1])
async def read_data_come_in_the_order_of_their_heads(dut, periods, busy):
    await start(dut, periods)
    order = [random.randrange(CHANNELS) for _ in range(4)]
    pages: list[deque[int]] = [deque() for _ in range(CHANNELS)]
    expected = []
    for channel in order:
        page = [random.getrandbits(16 * CHANNELS) for _ in range(PAGE_BEATS)]
        pages[channel].extend(page)
        expected += page
    cocotb.start_soon(accept_heads(dut, order, busy))
    cocotb.start_soon(send_pages(dut, pages, busy))
    taken = await take_pages(dut, len(expected), busy)
    assert [data for _, data in taken] == expected
    if busy == 1:
        cycles = (taken[-1][0] - taken[20][0]) / max(periods)
        assert abs(cycles - (len(expected) - 21)) <= 2, cycles


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def idle_is_not_seen_too_early(dut, periods):
    """Work is on its way for a time, then in an engine, which shows it up to five cycles later."""
    front, channels = periods
    await start(dut, periods, idle__quiet=1, idle__engines=1)
    for _ in range(12):
        await Timer(40 * (front + channels), "ps")
        assert dut.idle__idle.value == 1
        await Timer(random.randrange(20 * max(periods)) + 1, "ps")
        await RisingEdge(dut.front_clk)
        dut.idle__quiet.value = 0
        await RisingEdge(dut.front_clk)
        working = cocotb.start_soon(work(dut, random.randrange(30)))
        while not working.done():
            await RisingEdge(dut.front_clk)
            assert dut.idle__idle.value == 0
    dut.idle__engines.value = 0  # by themselves
    await Timer(40 * (front + channels), "ps")
    assert dut.idle__idle.value == 0


async def work(dut, cycles: int) -> None:
    for _ in range(cycles):
        await RisingEdge(dut.channels_clk)
    arrived = cocotb.start_soon(hide(dut))
    for _ in range(random.randint(1, 5)):
        await RisingEdge(dut.channels_clk)
    dut.idle__engines.value = 0
    for _ in range(random.randint(3, 40)):
        await RisingEdge(dut.channels_clk)
    dut.idle__engines.value = 1
    await arrived


async def hide(dut) -> None:
    """The front end sees that nothing is on its way."""
    await RisingEdge(dut.front_clk)
    dut.idle__quiet.value = 1


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def a_counter_is_there_when_it_is_not_pending(dut, periods):
    await start(dut, periods)
    counts = [random.getrandbits(20) for _ in range(16)]
    shown = cocotb.start_soon(count(dut, counts))
    for _ in range(8):
        select = random.randrange(16)
        dut.counter__select.value = select
        dut.counter__sample.value = 1
        before = counts[select]
        await RisingEdge(dut.front_clk)
        while dut.counter__pending.value == 1:
            await RisingEdge(dut.front_clk)
        value = VALUE[0]
        assert before <= value <= counts[select]
        for _ in range(random.randint(1, 20)):
            await RisingEdge(dut.front_clk)
            assert VALUE[0] == value
        dut.counter__sample.value = 0
        await RisingEdge(dut.front_clk)
        assert dut.counter__pending.value == 0
    shown.cancel()


VALUE = [0]
"""What the engine shows."""


async def count(dut, counts: list[int]) -> None:
    """Counters that go on, shown three cycles behind a sample, as `ChannelCounters` does."""
    samples: deque[int | None] = deque([None, None])
    while True:
        await RisingEdge(dut.channels_clk)
        sampled = dut.counter__engine_sample.value == 1
        samples.append(int(dut.counter__engine_select.value) if sampled else None)
        if (select := samples.popleft()) is not None:
            VALUE[0] = counts[select]
        for number in range(len(counts)):
            counts[number] += 1


@cocotb.test()
@cocotb.parametrize(periods=PERIODS)
async def the_front_enters_and_leaves_its_reset_last(dut, periods):
    front, channels = periods
    await start(dut, periods)
    for _ in range(3):
        dut.reset__request.value = 0
        await Timer(8 * (front + channels), "ps")
        assert (dut.reset__channels.value, dut.reset__front.value) == (0, 0)
        await RisingEdge(dut.clk)
        dut.reset__request.value = 1
        while dut.reset__channels.value == 0:
            await RisingEdge(dut.nand_clk)
            assert dut.reset__front.value == 0
        held = 0
        while dut.reset__front.value == 0:
            assert dut.reset__channels.value == 1
            await RisingEdge(dut.nand_clk)
            held += 1
        assert held >= 4
        dut.reset__request.value = 0
        while dut.reset__channels.value == 1:
            assert dut.reset__front.value == 1
            await RisingEdge(dut.nand_clk)
        await RisingEdge(dut.clk)
        assert dut.reset__front.value == 1
