"""cocotb tests of a die agent's units, each alone: sequences of its data sheet and of ONFI 5.1."""

import random

import cocotb

from flashtrain.rtl.channel.die_agent.eraser import EraseStep
from flashtrain.rtl.channel.die_agent.ready_poller import Pause, Work
from flashtrain.rtl.layouts import PageEvent, PageKind, PageRetry, PageSet, PageSource, SetResult
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.nand import BusOp, DieStatus
from tests.rtl.channel.die_agent.agent_units import CONFIG, agent_units
from tests.rtl.channel.die_agent.unit_surroundings import Event, Surroundings, chance

IDLE_INPUTS = agent_units().idle_inputs()
G = CONFIG.geometry
SHARES = (1.0, 0.3)


def fields_of(event: Event, *names: str) -> tuple[int, ...]:
    return tuple(event.fields[name] for name in names)


@cocotb.test()
@cocotb.parametrize(granted=SHARES)
async def die_reset_leaves_the_die_alone_first(dut, granted):
    """FFh comes when tWB, tRHW and tCHZ have passed since the reset, then tRST, then RDY."""
    await start(dut, **IDLE_INPUTS)
    around = Surroundings(dut, "die_reset", granted=granted)
    await around.until(lambda: len(around.log) > 0)
    quiet = max(CONFIG.timing.cycles(name) for name in ("twb", "trhw", "tchz"))
    assert quiet <= around.log[0].cycle <= quiet + around.delay + 4
    assert not around["ready"] and around["schedule__busy"] and around["schedule__request"]
    await around.until(lambda: around["ready"] == 1)
    assert around.whats == [BusOp.RESET, Work.RESET]
    await around.quiet()


@cocotb.test()
@cocotb.parametrize(granted=SHARES)
async def eraser_erases_plane_by_plane(dut, granted):
    """60h..D1h for all planes but the last, 60h..D0h for that, or for the only one; FAIL is the result."""
    erases, answers = StreamSource(dut, "eraser__erase", 0.5), StreamSink(dut, "eraser__erased", 0.5)
    await start(dut, **IDLE_INPUTS)
    failed = [chance(0.4) for _ in range(12)]
    statuses = iter(failed)

    def status(work: Work) -> int:
        return random.getrandbits(8) & ~DieStatus.FAIL.value | (DieStatus.FAIL.value if next(statuses) else 0)

    around, expected = Surroundings(dut, "eraser", granted=granted, status=status), []
    for number in range(len(failed)):
        alone, plane, zone = chance(0.4), random.randrange(G.planes), random.randrange(G.blocks)
        erases.send(pack(EraseStep(CONFIG), zone=zone, alone=alone, plane=plane))
        planes = [plane] if alone else list(range(G.planes))
        for one in planes:
            last = one == planes[-1]
            expected += [
                (BusOp.ERASE_LAST if last else BusOp.ERASE_MORE, zone, one),
                (Work.ERASE if last else Pause.NEXT_PLANE, None, None),
            ]
        await answers.wait_for(number + 1)
    await around.quiet()
    seen = [(event.what, event.fields.get("zone"), event.fields.get("plane")) for event in around.log]
    assert seen == expected
    assert [bool(answer) for answer in answers.items] == failed and around.started == len(failed)


@cocotb.test()
@cocotb.parametrize(granted=SHARES)
async def retrier_reads_a_page_at_its_level(dut, granted):
    """EFh, the level; 00h..30h; 06h..E0h and data; EFh, level 0: and the array is idle at both changes."""
    retries = StreamSource(dut, "retrier__retries", 0.5)
    await start(dut, **IDLE_INPUTS)
    around, count = Surroundings(dut, "retrier", granted=granted), 8
    pages = []
    for _ in range(count):
        source = {
            "zone": random.randrange(G.blocks), "page": random.randrange(G.pages),
            "plane": random.randrange(G.planes), "level": random.randint(1, CONFIG.read_levels),
        }  # fmt: skip
        target = {
            "tag": random.randrange(CONFIG.commands),
            "buffer_block": random.getrandbits(CONFIG.buffer_block_bits),
        }
        pages.append((source, target))
        retries.send(pack(PageRetry(CONFIG), source=pack(PageSource(CONFIG), **source), **target))
    await around.until(lambda: around.whats.count(BusOp.DATA_OUT) == count)
    await around.quiet()
    assert around.whats == count * [
        BusOp.SET_READ_LEVEL, Work.FEATURE, BusOp.READ_LAST, Work.LONE_SENSE,
        BusOp.SELECT, Pause.CHANGE_COLUMN, BusOp.DATA_OUT, BusOp.SET_READ_LEVEL, Work.FEATURE,
    ]  # fmt: skip
    for number, (source, target) in enumerate(pages):
        to_level, _, read, _, select, _, output, back, _ = around.log[9 * number : 9 * number + 9]
        assert fields_of(to_level, "level") == (source["level"],) and fields_of(back, "level") == (0,)
        for event in (read, select):
            assert fields_of(event, "zone", "page", "plane") == tuple(
                source[name] for name in ("zone", "page", "plane")
            )
        assert fields_of(output, "tag", "buffer_block", "from_array", "origin", "level") == (
            target["tag"], target["buffer_block"], 1, 0, source["level"],
        )  # fmt: skip
    assert around.started == count


class Sequences:
    """The status bytes of update sequences, and the status that each tile's program must be given.

    At RDY after update n of a sequence FAILC is that of update n - 2; at RDY after C8h that of the last but
    one; at ARDY FAIL is that of the last (`TileUpdater`).
    """

    def __init__(self):
        self.tiles: list[bool] = []  # whether each program of the sequence has failed, as far as reported
        self.updates = 0
        self.results: list[bool] = []

    def status(self, work: Work) -> int:
        other = random.getrandbits(8) & ~(DieStatus.FAIL | DieStatus.FAILC).value
        failed = chance(0.4)
        if work in (Work.FIRST_UPDATE, Work.UPDATE):
            self.updates += 1
            if self.updates > 2:
                self.results.append(failed)
            return other | (DieStatus.FAILC.value if failed else 0) | (chance(0.5) and DieStatus.FAIL.value)
        if work is Work.PROGRAM:
            if self.updates > 1:
                self.results.append(failed)
            return other | (DieStatus.FAILC.value if failed else 0) | (chance(0.5) and DieStatus.FAIL.value)
        assert work is Work.LAST_PROGRAM
        self.results.append(failed)
        self.updates = 0
        return other | (DieStatus.FAIL.value if failed else 0) | (chance(0.5) and DieStatus.FAILC.value)


@cocotb.test()
@cocotb.parametrize(granted=SHARES, busy=[1.0, 0.02])
async def updater_sends_sequences_of_tiles(dut, granted, busy):
    """Loads, updates, copies and the end of each sequence, in ONFI's order; every tile's own status."""
    sets = StreamSource(dut, "updater__sets", busy)
    results, updated = StreamSink(dut, "updater__results", 0.6), StreamSink(dut, "updater__updated", 0.6)
    await start(dut, **IDLE_INPUTS)
    sequences = Sequences()
    around = Surroundings(dut, "updater", granted=granted, status=sequences.status)
    around.idle_array_after = 20
    layout, given = PageSet(CONFIG), []
    for number in range(14):
        constants = chance(0.2)
        pages = 1 if constants else random.randint(1, G.planes)
        one = {
            "slot": number % CONFIG.write_sets, "zone": random.randrange(G.zones),
            "page": random.randrange(G.pages), "last": pages - 1, "source": random.randrange(G.zones),
            "source_page": random.randrange(G.pages), "tag": number % CONFIG.commands,
            "copies": 0 if constants else random.randint(0, pages),
            "kind": (PageKind.CONSTANTS if constants else PageKind.GRADIENTS).value,
        }  # fmt: skip
        given.append(one)
        sets.send(pack(layout, **one))
    await results.wait_for(len(given))
    await around.quiet()
    await updated.wait_for(sum(one["kind"] == PageKind.GRADIENTS.value for one in given))
    assert [unpack(SetResult(CONFIG), item) for item in results.items] == [
        {"slot": one["slot"], "failed": 0} for one in given
    ]
    tiles = [one for one in given if one["kind"] == PageKind.GRADIENTS.value]
    assert [unpack(PageEvent(CONFIG), item) for item in updated.items] == [
        {"tag": one["tag"], "failed": int(failed)}
        for one, failed in zip(tiles, sequences.results, strict=True)
    ]
    check_update_order(around.log, given)


def check_update_order(log: list[Event], given: list[dict[str, int]]) -> None:
    """The operations of each set in their order; ends of sequences and loads may come between."""
    position, computing, open_sequence, loads = 0, 0, False, []
    for index, event in enumerate(log):
        op, current = event.what, given[position] if position < len(given) else None
        if op is BusOp.LOAD_CONSTANTS:
            assert not open_sequence and current is not None
            assert fields_of(event, "slot", "plane") == (current["slot"], 0)
            position += 1
        elif op is BusOp.LOAD_GRADIENT:
            assert current is not None and fields_of(event, "slot", "plane") == (current["slot"], len(loads))
            loads.append(index)
        elif op is BusOp.UPDATE_SOURCE:
            assert current is not None and len(loads) == current["last"] + 1
            plane = event.fields["plane"]
            assert fields_of(event, "zone", "page") == (current["source"], current["source_page"])
            target, after = log[index + 1], log[index + 2]
            last = plane == G.planes - 1
            assert target.what is (BusOp.UPDATE_LAST if last else BusOp.UPDATE_MORE)
            assert fields_of(target, "zone", "page", "plane") == (current["zone"], current["page"], plane)
            assert after.what is (Pause.CONFIRM if last else Pause.NEXT_PLANE)
            if last:
                assert log[index + 3].what is (Work.UPDATE if open_sequence else Work.FIRST_UPDATE)
                position, loads, open_sequence = position + 1, [], True
                computing = current["copies"]
        elif op is BusOp.SELECT_COPY:
            assert log[index + 1].what is Pause.CHANGE_COLUMN
            out = log[index + 2]
            copy = given[position - 1]["copies"] - computing
            assert out.what is BusOp.DATA_OUT and event.fields["plane"] == out.fields["plane"] == copy
            assert fields_of(out, "origin", "from_array", "slot") == (1, 0, given[position - 1]["slot"])
            computing -= 1
        elif op is BusOp.UPDATE_END:
            assert open_sequence and not computing
            assert [one.what for one in log[index + 1 : index + 3]] == [Work.PROGRAM, Work.LAST_PROGRAM]
            open_sequence = False
    assert position == len(given) and not open_sequence and not loads and not computing
