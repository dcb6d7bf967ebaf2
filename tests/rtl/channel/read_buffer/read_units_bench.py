"""cocotb tests of units of the read buffer: each against a reference model, in every cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.read_buffer.page_corrector import Patch
from flashtrain.rtl.lib.gearbox import Chunks
from flashtrain.sim.bench.streams import StreamSource, pack, start
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from tests.rtl.channel.read_buffer.read_units import CODED, PAGES, PLAIN, read_units
from tests.rtl.side_by_side import Unit

IDLE_INPUTS = read_units().idle_inputs()
PATCH = Patch(CODED)


async def started(dut, name: str) -> Unit:
    await start(dut, **IDLE_INPUTS)
    return Unit(dut, name)


def chance(share: float) -> bool:
    return random.random() < share


def layout(config: FmsConfig) -> tuple[int, int, int]:
    """Chunks of a page's data, of its identity and of its parity: all that the bus carries."""
    bits = Chunks(config).bits
    data = 8 * config.geometry.page_bytes // bits
    identity = 8 * PageIdentity.BYTES // bits
    return data, identity, 8 * config.bus_page_bytes // bits - data - identity


@cocotb.test()
@cocotb.parametrize(name=["coded", "plain"])
async def chunks_have_their_place_in_a_page(dut, name):
    """Data by word and number; the identity, complete with its last chunk; parity if there is a code."""
    unit = await started(dut, name)
    config = CODED if name == "coded" else PLAIN
    chunks, (data, identity, parity) = Chunks(config), layout(config)
    assert (parity > 0) == (name == "coded")
    for _ in range(3):
        record = 0
        for position in range(data + identity + parity):
            while chance(0.3):
                unit.drive(valid=0, chunk=random.getrandbits(chunks.bits))
                await RisingEdge(dut.clk)
                assert not (unit["of_data"] or unit["identified"] or unit["ends"])
            chunk = random.getrandbits(chunks.bits)
            unit.drive(valid=1, chunk=chunk)
            await RisingEdge(dut.clk)
            assert unit["of_data"] == (position < data)
            if position < data:
                assert (unit["word"], unit["number"]) == divmod(position, chunks.count)
            elif position < data + identity:
                record |= chunk << (position - data) * chunks.bits
            complete = position == data + identity - 1
            assert unit["identified"] == complete and (not complete or unit["identity"] == record)
            assert unit["ends"] == (position == data + identity + parity - 1)


@cocotb.test()
async def each_page_buffer_has_one_user(dut):
    """Every number is given once until it is returned, in any order, from the cycle after the return on."""
    unit = await started(dut, "free")
    free, used, given = set(range(PAGES)), list[int](), 0
    returned_before: int | None = None
    for _ in range(2_000):
        returned = random.choice(used) if used and chance(0.4) else None
        takes = chance(0.6)
        unit.drive(output__ready=takes, returns=returned is not None, returned=returned or 0)
        await RisingEdge(dut.clk)
        # A queue hands a number on a cycle after it got it.
        assert unit["output__valid"] or free <= {returned_before}
        number = unit["output__payload"]
        if unit["output__valid"]:
            assert number in free, f"buffer {number} is given although it is in use"
        if unit["output__valid"] and takes:
            free.remove(number)
            used.append(number)
            given += 1
        returned_before = returned
        if returned is not None:
            used.remove(returned)
            free.add(returned)
    assert given > 10 * PAGES


@cocotb.test()
@cocotb.parametrize(busy=[1.0, 0.3])
async def patches_invert_their_bits(dut, busy):
    """A read, a cycle later the word, then the write of the chunk with the mask's bits inverted."""
    patches = StreamSource(dut, "patch__patches")
    unit = await started(dut, "patch")
    chunks, beat_bits = Chunks(CODED), 8 * CODED.data_bytes
    content: dict[int, int] = {}
    accepted = 0
    for _ in range(25):
        fields = {
            name: random.getrandbits(field.width) for name, field in PATCH if name != "mask"
        } | {"mask": random.randrange(1, 256)}  # fmt: skip
        fields["chunk"] %= chunks.count
        fields["byte"] %= chunks.bits // 8
        patches.send(pack(PATCH, **fields))
        waits = 0
        stages = []
        while True:
            reads, writes = chance(busy), chance(busy)
            unit.drive(reads=reads, writes=writes)
            await RisingEdge(dut.clk)
            waits += 1
            address = unit["address"]
            if unit["read_request"]:
                assert not stages and address == fields["word"]
                if reads:
                    word = content.setdefault(address, random.getrandbits(beat_bits))
                    unit.drive(word=word, reads=0)
                    stages.append(waits)
                    await RisingEdge(dut.clk)
                    waits += 1
                    unit.drive(word=random.getrandbits(beat_bits))
                    assert unit["busy"] and not unit["read_request"] and not unit["write_request"]
            elif unit["write_request"]:
                assert len(stages) == 1 and (address, unit["number"]) == (fields["word"], fields["chunk"])
                old = content[address] >> fields["chunk"] * chunks.bits & (1 << chunks.bits) - 1
                assert unit["chunk"] == old ^ fields["mask"] << 8 * fields["byte"]
                if writes:
                    content[address] ^= fields["mask"] << 8 * fields["byte"] + fields["chunk"] * chunks.bits
                    assert busy < 1 or waits - stages[0] == 2, "the write comes two cycles after the read"
                    accepted += 1
                    break
    assert accepted == 25
