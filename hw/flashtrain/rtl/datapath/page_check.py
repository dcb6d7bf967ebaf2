"""Checks the identity of each page that comes from an array."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.identity import RECORD_BITS, Record, checksum
from flashtrain.rtl.layouts import (
    CODEC_BITS,
    ReadEffort,
    ReadHead,
    ReadJob,
    ZoneIdentity,
    coded,
    parted,
)
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.streams import Codec


class ChosenPage(data.StructLayout):
    """The next page for the tensor buffer, and its channel."""

    def __init__(self, config: FmsConfig):
        super().__init__({"head": ReadHead(config), "channel": max(1, config.geometry.channel_bits)})


class CheckedPage(data.StructLayout):
    """A page after its check. `failed`: none of its data are written; `inspect`: the identity replaces its
    last bytes.

    With a `codec` the address is that of the command's data. The decoder needs the page's place among the
    blocks of the command.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "tag": config.tag_bits,
            "buffer_block": config.buffer_block_bits,
            "channel": max(1, config.geometry.channel_bits),
            "failed": 1,
            "inspect": 1,
            "identity": RECORD_BITS,
            "effort": ReadEffort(config),
            **parted(config),
            **coded(config, {
                "codec": CODEC_BITS, "expanded": config.count_bits, "is_first": 1, "is_last": 1,
            }),
        })  # fmt: skip


def opened_ports(config: FmsConfig) -> dict[str, wiring.Member]:
    """The ports that show the tags of new commands."""
    return coded(config, {"opened": In(1), "opened_tag": In(config.tag_bits)})


class PageCheck(wiring.Component):
    """Compares each page's identity with that of its read job.

    Stream, logical zone, generation, sequence, place and checksum must match. Pages that do not come from an
    array are not compared, nor are those of an inspection. A page that could not be corrected is not
    returned; an inspection finds no identity in it.

    The copies of an update are pages without a read job. With a codec the job of the read that had their tag
    before does not apply to them.

    Latency: 4 cycles, 1 for pages that are not compared, 2 for these with a codec if they have a job.
    Throughput: one page per 5 cycles.

    Members
    -------
    job : In(ReadJob), job_begins : In(1)   a job whose pages will be chosen
    opened : In(1), opened_tag : In         with a codec: a command gets a tag; before its job begins
    chosen : In(stream(ChosenPage))
    checked : Out(stream(CheckedPage))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "job": In(ReadJob(config)),
            "job_begins": In(1),
            **opened_ports(config),
            "chosen": In(stream.Signature(ChosenPage(config))),
            "checked": Out(stream.Signature(CheckedPage(config))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry
        job_layout = data.StructLayout({
            "inspect": 1,
            "identity": ZoneIdentity(),
            "offset": g.zone_size_bits,
            "buffer_block": config.buffer_block_bits,
            **coded(config, {
                "blocks": config.count_bits, "codec": CODEC_BITS, "expanded": config.count_bits,
            }),
        })  # fmt: skip
        m.submodules.jobs = memory = Memory(shape=job_layout, depth=config.commands, init=[])
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.en.eq(self.job_begins),
            write.addr.eq(self.job.tag),
            *(write.data[name].eq(self.job[name]) for name in job_layout.members),
            read.addr.eq(self.chosen.payload.head.tag),
            read.en.eq(self.chosen.valid & self.chosen.ready),
        ]

        job, page, checked = read.data, Signal(ChosenPage(config)), self.checked.payload
        offset = Signal(g.zone_size_bits)  # of the page, in its zone
        expected, record = Signal(Record()), Signal(Record())
        compared = [name for name in record.shape().members if name not in ("updated", "wear", "crc")]
        crc = Signal.like(record.crc)
        wrong, differences = Signal(), Signal(len(compared) + 2)
        m.d.comb += [
            record.as_value().eq(page.head.identity),
            *(expected[name].eq(job.identity[name]) for name in ("stream", "zone", "generation", "sequence")),
            expected.version.eq(PageIdentity.VERSION),
            checked.tag.eq(page.head.tag),
            checked.buffer_block.eq(page.head.buffer_block),
            checked.channel.eq(page.channel),
            checked.failed.eq((page.head.failed & ~checked.inspect) | wrong),
            checked.identity.eq(page.head.identity),
            checked.effort.eq(page.head.effort),
            *([checked.part.eq(page.head.part)] if config.part_bytes else []),
        ]
        index = Signal(config.buffer_block_bits)  # of the page among the command's blocks
        m.d.comb += index.eq(page.head.buffer_block - job.buffer_block)
        chosen_has_job, page_has_job = Const(0), Const(0)
        if config.codec:
            with_job, page_has_job = Signal(config.commands), Signal()  # tags; the page that is checked
            chosen_has_job = with_job.bit_select(self.chosen.payload.head.tag, 1)
            with m.If(self.opened):
                m.d.sync += with_job.bit_select(self.opened_tag, 1).eq(0)
            with m.If(self.job_begins):
                m.d.sync += with_job.bit_select(self.job.tag, 1).eq(1)
            m.d.comb += [
                checked.codec.eq(Mux(page_has_job, job.codec, Codec.RAW)),
                checked.expanded.eq(job.expanded),
                checked.is_first.eq(index == 0),
                checked.is_last.eq(index == job.blocks - 1),
            ]
            with m.If(checked.codec != Codec.RAW):
                m.d.comb += checked.buffer_block.eq(job.buffer_block)
        channel, plane, die, page_number = (
            Signal(bits, name=name)
            for name, bits in (
                ("channel", g.channel_bits),
                ("plane", g.plane_bits),
                ("die", g.die_bits),
                ("page", g.page_bits),
            )
        )
        m.d.comb += [
            Cat(channel, plane, die, page_number).eq(offset),
            expected.channel.eq(page.channel),
            expected.plane.eq(plane),
            expected.die.eq(die),
            expected.page.eq(page_number),
        ]

        with m.FSM(name="page_check"):
            with m.State("IDLE"):
                m.d.comb += self.chosen.ready.eq(1)
                m.d.sync += [page.eq(self.chosen.payload), wrong.eq(0), checked.inspect.eq(0)]
                if config.codec:
                    m.d.sync += page_has_job.eq(chosen_has_job)
                with m.If(self.chosen.valid):
                    m.next = "OFFER"
                    with m.If(self.chosen.payload.head.from_array | chosen_has_job):
                        m.next = "LOCATE"

            with m.State("LOCATE"):
                m.d.sync += [
                    offset.eq(job.offset + index),
                    crc.eq(checksum(record.as_value())),
                    checked.inspect.eq(job.inspect),
                ]
                m.next = "COMPARE"
                if config.codec:
                    with m.If(~page.head.from_array):
                        m.next = "OFFER"

            with m.State("COMPARE"):
                m.d.sync += differences.eq(
                    Cat(
                        *(record[name] != expected[name] for name in compared),
                        crc != record.crc,
                        channel != page.channel,
                    )
                )
                m.next = "JUDGE"

            with m.State("JUDGE"):
                m.d.sync += wrong.eq(~checked.inspect & differences.any())
                m.next = "OFFER"

            with m.State("OFFER"):
                m.d.comb += self.checked.valid.eq(1)
                with m.If(self.checked.ready):
                    m.next = "IDLE"
        return m
