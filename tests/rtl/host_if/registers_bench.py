"""The register file against a model: every address, every rule of acceptance, interrupts and counters."""

import logging
import random
from dataclasses import replace

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from flashtrain.rtl.layouts import StreamTable
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start, unpack
from flashtrain.spec import preset
from flashtrain.spec.registers import ChannelCounter, Counter, Register, State, channel_counter_register

PARAMETERS = bench_parameters()
CONFIG = replace(preset(PARAMETERS["preset"]), command_port=PARAMETERS["command_port"])
G = CONFIG.geometry
ENABLED, FACTORY, RECOVER, RAW = 1, 2, 4, 8
SQ_TAIL, CQ_HEAD = (0x1000, 0x1008), (0x1004, 0x100C)


class Model:
    """The register map as its text has it, with numbers written out."""

    def __init__(self):
        self.control = 0
        self.bad_doorbell = False
        self.words = {
            0x020: 0, 0x024: 0, 0x02C: 0, 0x03C: 0, 0x3F0: 0, 0x3F4: 0,
            **{0x100 + 0x40 * port + offset: 0 for port in (0, 1) for offset in (0, 4, 8, 0x10, 0x14, 0x18)},
            **{0x200 + 0x20 * stream + offset: 0 for stream in range(8) for offset in (0, 4)},
            **{doorbell: 0 for doorbell in (*SQ_TAIL, *CQ_HEAD)},
        }  # fmt: skip
        self.fixed = {
            0x000: 0x4E525446,
            0x004: 0x100,
            0x008: G.channels | G.dies << 8 | G.planes << 16,
            0x00C: G.blocks | G.pages << 16,
            0x010: G.page_bytes | G.spare_bytes << 16,
            0x018: CONFIG.commands | CONFIG.max_blocks << 16,
            0x030: CONFIG.timing.clock_mhz,
            0x034: CONFIG.max_open | CONFIG.max_active << 16,
        }
        high_bits = max(0, CONFIG.address_bits - 32)
        self.widths = {0x024: 16, 0x02C: 2}
        for port in (0, 1):
            base = 0x100 + 0x40 * port
            self.widths |= {base + 4: high_bits, base + 0x14: high_bits, base + 8: 16, base + 0x18: 16}
        self.widths |= {0x204 + 0x20 * stream: 16 for stream in range(8)}
        if CONFIG.command_port:  # no channel is paused here: NAND_CYCLE is refused
            self.words |= {0x300: 0, 0x304: 0, 0x308: 0}
            self.widths |= {0x300: min(32, G.channels), 0x304: max(0, G.channels - 32)}
            self.fixed[0x310] = 0
        self.limits = {0x308: 6, 0x3F0: G.channels, 0x3F4: G.zones}

    def read(self, address: int) -> int | None:
        """The value; None for an error. STATE, INTERRUPT, counters and generations are the bench's."""
        if address in self.fixed:
            return self.fixed[address]
        return self.control if address == 0x014 else self.words.get(address)

    def write(self, address: int, value: int) -> bool:
        """Whether it is accepted."""
        enabled = bool(self.control & ENABLED)
        if address == 0x014:
            if value > 15:
                return False
            self.control = value
            if not value & ENABLED:
                self.bad_doorbell = False
                self.words |= {doorbell: 0 for doorbell in (*SQ_TAIL, *CQ_HEAD)}
            return True
        if address == 0x028:
            return True
        if address not in self.words:
            return False
        if address >= 0x1000:
            return enabled and self._ring(address, value)
        if enabled and address not in (0x02C, 0x03C, 0x300, 0x304, 0x308, 0x3F0, 0x3F4):
            return False
        if value >> self.widths.get(address, 32) or value >= self.limits.get(address, 1 << 32):
            return False
        if 0x100 <= address < 0x180 and address % 0x10 == 0 and value % 64:
            return False
        if 0x100 <= address < 0x180 and address % 0x10 == 8 and value == 0:
            return False
        self.words[address] = value
        return True

    def _ring(self, address: int, value: int) -> bool:
        port, is_head = divmod(address - 0x1000, 8)
        size = self.words[0x100 + 0x40 * port + (0x18 if is_head else 8)]
        usable = is_head or self.words[0x100 + 0x40 * port + 0x18] > 0
        if value > size or not usable:
            self.bad_doorbell = True
        else:
            self.words[address] = value
        return True


class Bench:
    def __init__(self, dut, busy: float = 1):
        self.dut = dut
        self.bus = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "bus_"), dut.clk, dut.rst)
        for side in (self.bus.write_if, self.bus.read_if):
            side.log.setLevel(logging.ERROR)
        write, read = self.bus.write_if, self.bus.read_if
        channels = write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel
        for channel in channels:
            channel.log.setLevel(logging.ERROR)
            if busy < 1:
                channel.set_pause_generator(iter(lambda: random.random() >= busy, None))
        self.model = Model()

    async def start(self) -> None:
        quiet = (
            "ready", "fatal", "idle", "recovering", "completed", "counters__value",
            "channel_counters__value",
            "counter_pending", "zone_wear", "sequence", "second",
        )  # fmt: skip
        if CONFIG.command_port:
            quiet = (*quiet, "port__busy", "port__paused", "port__byte")
        generations = {f"generation__{stream}": 100 + stream for stream in range(8)}
        await start(self.dut, **{name: 0 for name in quiet}, **generations)

    async def read(self, address: int) -> int | None:
        answer = await self.bus.read(address, 4)
        return int.from_bytes(answer.data, "little") if answer.resp == AxiResp.OKAY else None

    async def write(self, address: int, value: int) -> bool:
        answer = await self.bus.write(address, value.to_bytes(4, "little"))
        return answer.resp == AxiResp.OKAY

    async def write_both(self, address: int, value: int) -> None:
        """To device and model, which must agree on whether it is accepted."""
        accepted = self.model.write(address, value)
        assert await self.write(address, value) == accepted, f"{value:#x} to {address:#x}, {accepted=}"

    def check_outputs(self) -> None:
        dut, words = self.dut, self.model.words
        flags = (dut.enable, ENABLED), (dut.factory, FACTORY), (dut.recover, RECOVER), (dut.raw, RAW)
        for pin, flag in flags:
            assert pin.value == int(bool(self.model.control & flag))
        assert dut.memory_bytes.value == words[0x020] | words[0x024] << 32
        assert dut.time.value == words[0x03C]
        assert dut.channel_select.value == words[0x3F0]
        assert dut.zone_select.value == words[0x3F4]
        for port in (0, 1):
            base = 0x100 + 0x40 * port
            for name, low in (("sq", base), ("cq", base + 0x10)):
                address = words[low] | words[low + 4] << 32
                assert getattr(dut, f"queues__{port}__{name}_base").value == address
                assert getattr(dut, f"queues__{port}__{name}_size").value == words[low + 8]
            assert getattr(dut, f"queues__{port}__sq_tail").value == words[SQ_TAIL[port]]
            assert getattr(dut, f"queues__{port}__cq_head").value == words[CQ_HEAD[port]]
        for stream in range(8):
            extent, attributes = words[0x200 + 0x20 * stream], words[0x204 + 0x20 * stream]
            first, zones = extent & 0xFFFF, extent >> 16
            table = unpack(StreamTable(CONFIG), int(getattr(dut, f"streams__{stream}").value))
            valid = attributes & 1 and attributes >> 12 == 0 and first + zones <= G.zones
            assert table["valid"] == int(bool(valid))
            if valid:
                assert table == {
                    "valid": 1, "non_volatile": attributes >> 1 & 1, "host": attributes >> 4 & 3,
                    "retention": attributes >> 8 & 3, "refuses": attributes >> 10 & 1,
                    "core": attributes >> 6 & 3, "zones": zones,
                    "first": first if zones else table["first"],  # of no zones it means nothing
                }  # fmt: skip


def random_value(address: int) -> int:
    if 0x200 <= address < 0x300 and address % 0x20 == 0:
        first = random.randint(0, G.zones)
        return first | random.choice([G.zones - first, G.zones - first + 1, random.randint(0, G.zones)]) << 16
    if 0x200 <= address < 0x300:
        return random.getrandbits(12) | random.choice([0, 0, 0, 1, 8, 16]) << 12
    small = random.choice([random.randrange(4), random.randrange(64), random.randrange(1 << 16)])
    return random.choice([small, 64 * small, random.getrandbits(32)])


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.5])
async def random_accesses_do_what_the_map_says(dut, busy):
    bench = Bench(dut, busy)
    await bench.start()
    model = bench.model
    mine = {
        0x01C,
        0x028,
        0x038,
        *range(0x3F8, 0x3FC),
        *range(0x400, 0x700),
        *(0x208 + 0x20 * s for s in range(8)),
    }
    mapped = [*model.words, *model.fixed, 0x014]
    for _ in range(500 if busy == 1 else 250):
        address = random.choice(mapped) if random.random() < 0.9 else random.randrange(0, 0x2000, 4)
        if random.random() < 0.1:
            address = random.choice([*SQ_TAIL, *CQ_HEAD])
        if address in mine:
            continue
        if random.random() < 0.6:
            value = random.randrange(18) if address == 0x014 else random_value(address)
            await bench.write_both(address, value)
            state = await bench.read(Register.STATE)
            assert state == (State.BAD_DOORBELL if model.bad_doorbell else 0)
            await RisingEdge(dut.clk)
            bench.check_outputs()
        else:
            assert await bench.read(address) == model.read(address), f"{address:#x}"


@cocotb.test()
async def every_address_is_known_or_refused(dut):
    bench = Bench(dut)
    await bench.start()
    counters = {0x400 + 4 * n for n in range(2 * 17)} | {0x600 + 4 * n for n in range(2 * 24)}
    known = {0x014, 0x01C, 0x028, 0x038, 0x3F8, *counters, *(0x208 + 0x20 * s for s in range(8))}
    known |= {*bench.model.words, *bench.model.fixed}
    for address in range(0, 0x1100, 4):
        assert (await bench.read(address) is not None) == (address in known), f"{address:#x}"
    for address in known - set(bench.model.words) - {0x014, 0x028}:
        assert not await bench.write(address, 0), f"{address:#x} is read only"
    for stream in range(8):
        assert await bench.read(0x208 + 0x20 * stream) == 100 + stream


@cocotb.test()
async def a_part_of_a_register_is_refused(dut):
    bench = Bench(dut)
    await bench.start()
    answer = await bench.bus.write(0x02C, b"\x03\x00")
    assert answer.resp == AxiResp.SLVERR
    assert await bench.read(0x02C) == 0


@cocotb.test()
async def state_and_interrupts(dut):
    bench = Bench(dut)
    await bench.start()

    async def complete(ports: int) -> None:
        dut.completed.value = ports
        await RisingEdge(dut.clk)
        dut.completed.value = 0
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)

    dut.idle.value = 1
    assert await bench.read(Register.STATE) == State.IDLE
    dut.ready.value = 1
    await complete(1)
    assert await bench.read(Register.INTERRUPT) == 0, "no interrupts while disabled"
    await bench.write_both(Register.CONTROL, 1)
    assert await bench.read(Register.STATE) == State.IDLE | State.READY
    dut.fatal.value = 1
    dut.idle.value = 0
    assert await bench.read(Register.STATE) == State.FATAL | State.READY
    dut.fatal.value = 0
    dut.recovering.value = 1
    assert await bench.read(Register.STATE) == State.RECOVERING | State.READY

    await complete(0b10)
    assert await bench.read(Register.INTERRUPT) == 0b10
    assert dut.irq.value == 0, "masked"
    await bench.write_both(Register.INTERRUPT_MASK, 0b10)
    await RisingEdge(dut.clk)
    assert dut.irq.value == 1
    await complete(0b01)
    assert await bench.read(Register.INTERRUPT) == 0b11
    await bench.write(Register.INTERRUPT, 0b10)
    assert await bench.read(Register.INTERRUPT) == 0b01
    assert dut.irq.value == 0
    await bench.write_both(Register.INTERRUPT_MASK, 0b11)
    await RisingEdge(dut.clk)
    assert dut.irq.value == 1
    await bench.write_both(Register.CONTROL, 0)
    assert await bench.read(Register.INTERRUPT) == 0


@cocotb.test()
async def a_completion_is_not_lost_to_a_clear(dut):
    """One in each clock around a write of INTERRUPT: only those before it are cleared."""
    bench = Bench(dut)
    await bench.start()
    await bench.write_both(Register.CONTROL, 1)
    ahead = set()
    for delay in range(12):
        written = None
        clear = cocotb.start_soon(bench.write(Register.INTERRUPT, 3))
        for clock in range(16):
            dut.completed.value = int(clock == delay)
            await RisingEdge(dut.clk)
            if dut.bus__awvalid.value == 1 and dut.bus__awready.value == 1:
                written = clock
        await clear
        assert await bench.read(Register.INTERRUPT) == int(delay > written), f"{delay} and {written}"
        ahead.add(delay - written)
    assert ahead >= {-1, 0, 1}


async def follow(dut, select: str, value: str, sample: str, contents: list[int], latency: int) -> None:
    """A bank of counters that answers `latency` cycles after its selection, while it is sampled."""
    pipeline = [(0, 0)] * latency
    while True:
        await RisingEdge(dut.clk)
        pipeline.append((int(getattr(dut, select).value), int(getattr(dut, sample).value)))
        selected, sampled = pipeline.pop(0)
        if sampled:
            getattr(dut, value).value = contents[selected % len(contents)]


def window(port: str) -> tuple[str, str, str]:
    return f"{port}__select", f"{port}__value", f"{port}__sample"


@cocotb.test()
async def the_high_half_of_a_counter_is_held(dut):
    bench = Bench(dut)
    await bench.start()
    front_end = [random.getrandbits(64) for _ in range(17)]
    channel = [random.getrandbits(48) for _ in range(20)]
    cocotb.start_soon(follow(dut, *window("counters"), front_end, 2))
    cocotb.start_soon(follow(dut, *window("channel_counters"), channel, 2))
    for _ in range(40):
        contents, base = random.choice([(front_end, 0x400), (channel, 0x600)])
        number = random.randrange(len(contents))
        counted = contents[number]
        assert await bench.read(base + 8 * number) == counted & 0xFFFF_FFFF
        contents[number] = random.getrandbits(48)
        if random.random() < 0.5:
            await bench.read(0x004)
        high = random.choice([base + 8 * number + 4, 0x404])
        assert await bench.read(high) == counted >> 32
    assert len(Counter) == len(front_end)


@cocotb.test()
async def zone_wear_is_a_window(dut):
    bench = Bench(dut)
    await bench.start()
    wear = [random.getrandbits(21) for _ in range(G.zones)]
    cocotb.start_soon(follow(dut, "zone_select", "zone_wear", "counters__sample", wear, 2))
    for zone in random.sample(range(G.zones), min(10, G.zones)):
        await bench.write_both(Register.ZONE_SELECT, zone)
        assert await bench.read(Register.ZONE_WEAR) == wear[zone]


@cocotb.test()
async def the_sequence_is_read_as_it_is(dut):
    bench = Bench(dut)
    await bench.start()
    for sequence in (random.getrandbits(32), 0xFFFF_FFFF):
        dut.sequence.value = sequence
        assert await bench.read(Register.SEQUENCE) == sequence


@cocotb.test()
async def the_time_goes_on_from_what_was_written(dut):
    """With each second; round its end, enabled or not. A write counts more than a second in its clock."""
    bench = Bench(dut)
    await bench.start()

    async def pulse(count: int) -> None:
        """So many cycles with a second in each."""
        dut.second.value = 1
        for _ in range(count):
            await RisingEdge(dut.clk)
        dut.second.value = 0
        await RisingEdge(dut.clk)

    assert await bench.read(Register.TIME) == 0
    for time in (0, random.getrandbits(32), 0xFFFF_FFFD):
        assert await bench.write(Register.TIME, time)
        await pulse(5)
        assert await bench.read(Register.TIME) == (time + 5) % (1 << 32) == int(dut.time.value)
        assert await bench.write(Register.CONTROL, int(time == 0))
    dut.second.value = 1
    written = await bench.write(Register.TIME, 1000)
    dut.second.value = 0
    await RisingEdge(dut.clk)
    assert written and 1000 <= int(dut.time.value) <= 1010


@cocotb.test()
async def a_read_takes_eight_cycles_and_a_write_two(dut):
    inputs = "awaddr awprot awvalid wdata wstrb wvalid bready araddr arprot arvalid rready".split()
    await start(dut, counter_pending=0, **{f"bus__{name}": 0 for name in inputs})
    dut.bus__rready.value = 1
    dut.bus__arvalid.value = 1
    await RisingEdge(dut.clk)
    dut.bus__arvalid.value = 0
    for _ in range(7):
        await RisingEdge(dut.clk)
        assert dut.bus__rvalid.value == 0
    await RisingEdge(dut.clk)
    assert dut.bus__rvalid.value == 1
    dut.bus__awaddr.value = 0x014
    dut.bus__wdata.value = 1
    dut.bus__wstrb.value = 15
    dut.bus__awvalid.value = dut.bus__wvalid.value = 1
    await RisingEdge(dut.clk)
    dut.bus__awvalid.value = dut.bus__wvalid.value = 0
    await RisingEdge(dut.clk)
    assert dut.enable.value == 0 and dut.bus__bvalid.value == 0
    await RisingEdge(dut.clk)
    assert dut.enable.value == 1 and dut.bus__bvalid.value == 1


@cocotb.test()
async def a_channel_counter_is_waited_for(dut):
    bench = Bench(dut)
    await bench.start()
    dut.channel_counters__value.value = dut.counters__value.value = 1
    dut.counter_pending.value = 1
    counter = cocotb.start_soon(bench.read(channel_counter_register(ChannelCounter.PROGRAMS)))
    for _ in range(random.randint(20, 40)):
        await RisingEdge(dut.clk)
        assert dut.bus__rvalid.value == 0
    assert dut.channel_counters__sample.value == 1
    dut.channel_counters__value.value = 7
    dut.counter_pending.value = 0
    assert await counter == 7
    await bench.read(Register.STATE)
    assert dut.channel_counters__sample.value == 0
