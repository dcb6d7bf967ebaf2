"""Looks at the identity of each page that comes from an array."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity

from ..identity import RECORD_BITS, Record, checksum
from ..layouts import ReadEffort, ReadHead, ReadJob, ZoneIdentity


class ChosenPage(data.StructLayout):
    """A page that is to be written to the tensor buffer next, and its channel."""

    def __init__(self, config: FmsConfig):
        super().__init__({"head": ReadHead(config), "channel": max(1, config.geometry.channel_bits)})


class CheckedPage(data.StructLayout):
    """What becomes of it. `failed`: none of its data are written; `inspect`: the identity takes the place of
    its last bytes."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "tag": config.tag_bits,
            "page": config.page_address_bits,
            "channel": max(1, config.geometry.channel_bits),
            "failed": 1,
            "inspect": 1,
            "identity": RECORD_BITS,
            "effort": ReadEffort(config),
        })  # fmt: skip


class PageCheck(wiring.Component):
    """Compares each page's identity with what its read job asked for.

    Stream, logical zone, generation, sequence and place must be right, and the checksum. Pages that do not
    come from an array are taken as they are, and those of an inspection. A page that could not be corrected
    is not returned; an inspection finds no identity in it.

    Latency: 3 clocks, of pages that are not compared 1. Throughput: one page per 4 clocks.

    Members
    -------
    job : In(ReadJob), job_begins : In(1)   its pages will come
    chosen : In(stream(ChosenPage))
    checked : Out(stream(CheckedPage))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "job": In(ReadJob(config)),
            "job_begins": In(1),
            "chosen": In(stream.Signature(ChosenPage(config))),
            "checked": Out(stream.Signature(CheckedPage(config))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry
        asked_layout = data.StructLayout({
            "inspect": 1,
            "identity": ZoneIdentity(),
            "offset": g.zone_size_bits,
            "page": config.page_address_bits,
        })  # fmt: skip
        m.submodules.asked = memory = Memory(shape=asked_layout, depth=config.commands, init=[])
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.en.eq(self.job_begins),
            write.addr.eq(self.job.tag),
            *(write.data[name].eq(self.job[name]) for name in asked_layout.members),
            read.addr.eq(self.chosen.payload.head.tag),
            read.en.eq(self.chosen.valid & self.chosen.ready),
        ]

        asked, page, checked = read.data, Signal(ChosenPage(config)), self.checked.payload
        offset = Signal(g.zone_size_bits)  # of the page, in its zone
        expected, record = Signal(Record()), Signal(Record())
        compared = [name for name in record.shape().members if name not in ("updated", "wear", "crc")]
        wrong = Signal()
        m.d.comb += [
            record.as_value().eq(page.head.identity),
            *(
                expected[name].eq(asked.identity[name])
                for name in ("stream", "zone", "generation", "sequence")
            ),
            expected.version.eq(PageIdentity.VERSION),
            checked.tag.eq(page.head.tag),
            checked.page.eq(page.head.page),
            checked.channel.eq(page.channel),
            checked.failed.eq((page.head.failed & ~checked.inspect) | wrong),
            checked.identity.eq(page.head.identity),
            checked.effort.eq(page.head.effort),
        ]
        channel, plane, die, row = (
            Signal(bits, name=name)
            for name, bits in (
                ("channel", g.channel_bits),
                ("plane", g.plane_bits),
                ("die", g.die_bits),
                ("row", g.row_bits),
            )
        )
        m.d.comb += [
            Cat(channel, plane, die, row).eq(offset),
            expected.channel.eq(page.channel),
            expected.plane.eq(plane),
            expected.die.eq(die),
            expected.row.eq(row),
        ]

        with m.FSM(name="page_check"):
            with m.State("NEXT_PAGE"):
                m.d.comb += self.chosen.ready.eq(1)
                m.d.sync += [page.eq(self.chosen.payload), wrong.eq(0), checked.inspect.eq(0)]
                with m.If(self.chosen.valid):
                    m.next = "GIVE"
                    with m.If(self.chosen.payload.head.from_array):
                        m.next = "LOOK_UP"

            with m.State("LOOK_UP"):
                m.d.sync += [
                    offset.eq(asked.offset + (page.head.page - asked.page)),
                    checked.inspect.eq(asked.inspect),
                ]
                m.next = "COMPARE"

            with m.State("COMPARE"):
                differs = Cat(record[name] != expected[name] for name in compared).any()
                m.d.sync += wrong.eq(
                    ~checked.inspect
                    & (differs | (checksum(record.as_value()) != record.crc) | (channel != page.channel))
                )
                m.next = "GIVE"

            with m.State("GIVE"):
                m.d.comb += self.checked.valid.eq(1)
                with m.If(self.checked.ready):
                    m.next = "NEXT_PAGE"
        return m
