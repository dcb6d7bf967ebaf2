"""Corrects pages on their way through the read buffer."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from flashtrain.spec import FmsConfig
from flashtrain.spec.ecc import PageCode
from flashtrain.spec.geometry import bits_for

from ..ecc.corrector import Corrector
from ..ecc.syndromes import PageSyndromes
from ..forward import forward
from ..layouts import PageSource
from ..queue import Queue
from .gearbox import BEAT_BITS, Chunks
from .memory_patch import MemoryPatch
from .page_sender import CompletePage

WORDS_WAITING = 16
"""Code words of pages that are being corrected. Errors come unevenly, and the bus should not feel it."""

_MEMORY = ("wants_read", "reads", "word", "wants_write", "writes", "address", "number", "chunk")


def pages_corrected_at_once(config: FmsConfig, code: PageCode) -> int:
    """Pages between the bus and their verdict: one comes in while others wait."""
    return max(2, min(config.read_pages, WORDS_WAITING // code.words))


class CorrectionCounts(data.StructLayout):
    """What happened in a clock, under the names of `ChannelCounter`; nothing without a code."""

    def __init__(self, config: FmsConfig):
        histogram = ("pages_corrected_1", "pages_corrected_2", "pages_corrected_4", "pages_corrected_8",
                     "pages_corrected_16")  # fmt: skip
        retries = ("pages_retried", "pages_rescued") if config.read_levels else ()
        super().__init__({
            "bits_corrected": bits_for(config.code.strength + 1),
            "words_uncorrectable": 1,
            **dict.fromkeys((*histogram, *retries), 1),
        } if config.code else {})  # fmt: skip


class FilledPage(data.StructLayout):
    """A page from an array that is in the read buffer, and from where."""

    def __init__(self, config: FmsConfig):
        page = {name: field.shape for name, field in CompletePage(config)}
        super().__init__({**page, "source": PageSource(config)})


class PageCorrector(wiring.Component):
    """Listens to the pages that the bus brings and holds those from an array back until they are corrected.

    What comes from the bus is stored as it is. Errors are worked out while the next pages come; those in the
    data are corrected in the read buffer's memory, those in the identity in the page's own. A page with a
    code word that cannot be corrected has `failed`, and zeros for an identity.

    Latency: a page without errors is `corrected` 7 clocks after its last beat; otherwise see
    `ecc.Corrector`, and 4 clocks for each byte with errors, or more while others use the memory.
    Throughput: a beat per clock. `pages_corrected_at_once` pages, of `WORDS_WAITING` code words, are here at
    most.

    Members
    -------
    room : Out(1)                        another page may begin
    begins : In(1)                       does
    valid : In(1), beat : In(16)         its beats, parity included
    pages : In(stream(FilledPage))       it, when its identity has come; always taken
    corrected : Out(stream(FilledPage))  with the effort that it took
    counts : Out(CorrectionCounts)       but for those of retries
    wants_read, reads, word, wants_write, writes, address, number, chunk   see `MemoryPatch`
    """

    def __init__(self, config: FmsConfig, code: PageCode):
        self.config = config
        self.code = code
        self._patch = MemoryPatch(config)
        super().__init__({
            "room": Out(1),
            "begins": In(1),
            "valid": In(1),
            "beat": In(BEAT_BITS),
            "pages": In(stream.Signature(FilledPage(config))),
            "corrected": Out(stream.Signature(FilledPage(config))),
            "counts": Out(CorrectionCounts(config)),
            **{name: self._patch.signature.members[name] for name in _MEMORY},
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, code = self.config, self.code
        places = pages_corrected_at_once(config, code)
        m.submodules.syndromes = syndromes = PageSyndromes(code, BEAT_BITS)
        m.submodules.corrector = corrector = Corrector(code, parallel=8, room=places * code.words)
        m.submodules.waiting = waiting = Queue(FilledPage(config), places)
        m.submodules.patch = patch = self._patch
        forward(m, patch, self, _MEMORY)
        # There is room for all syndromes of the pages here, so they take each beat in its clock.
        m.d.sync += [syndromes.input.valid.eq(self.valid), syndromes.input.payload.eq(self.beat)]
        connect(m, syndromes.output, corrector.inputs[0])
        verdicts, corrections = corrector.verdicts, corrector.corrections
        verdict, correction = verdicts.payload, corrections.payload

        # The page at work is the oldest: its data and identity are here before its first verdict.
        there, page = Signal(), Signal(FilledPage(config))
        leaves, pages = Signal(), Signal(range(places + 1))
        m.d.comb += [
            waiting.input.valid.eq(self.pages.valid),
            waiting.input.payload.eq(self.pages.payload),
            self.pages.ready.eq(1),
            leaves.eq(self.corrected.valid & self.corrected.ready),
            waiting.output.ready.eq(~there | leaves),
            self.room.eq(pages != places),
        ]
        m.d.sync += pages.eq(pages + self.begins - leaves)
        with m.If(waiting.output.ready):
            m.d.sync += [there.eq(waiting.output.valid), page.eq(waiting.output.payload)]

        # Positions are those of bytes: behind the data comes the identity.
        chunks = Chunks(config)
        byte_bits, chunk_bits = exact_log2(chunks.bits // 8), exact_log2(chunks.count)
        in_page = correction.position[: config.page_shift]
        in_identity = Signal()
        m.d.comb += [
            in_identity.eq(correction.position[config.page_shift]),
            patch.patches.payload.byte.eq(in_page[:byte_bits]),
            patch.patches.payload.chunk.eq(in_page[byte_bits:][:chunk_bits]),
            patch.patches.payload.word.eq(Cat(in_page[byte_bits + chunk_bits :], page.number)),
            patch.patches.payload.mask.eq(correction.mask),
            patch.patches.valid.eq(corrections.valid & there & ~in_identity),
            corrections.ready.eq(there & (in_identity | patch.patches.ready)),
        ]
        with m.If(corrections.valid & there & in_identity):
            wrong = correction.mask << (in_page[:4] << 3)
            m.d.sync += page.identity.eq(page.identity ^ wrong)

        # What is known of its words so far.
        first, last = verdict.word == 0, verdict.word == code.words - 1
        judged, failed = Signal(), Signal()
        failed_before, bits_before = Signal(), Signal(range(code.words * code.strength + 1))
        bits_now = Signal.like(bits_before)
        effort = self.corrected.payload.effort
        most = (1 << len(effort.corrected)) - 1
        m.d.comb += [
            failed.eq(verdict.failed | (failed_before & ~first)),
            self.corrected.valid.eq(verdicts.valid & last & there & ~patch.busy),
            self.corrected.payload.eq(page),
            self.corrected.payload.failed.eq(failed),
            self.corrected.payload.identity.eq(Mux(failed, 0, page.identity)),
            effort.corrected.eq(Mux(bits_now > most, most, bits_now)),
            verdicts.ready.eq(there & (~last | (self.corrected.ready & ~patch.busy))),
            judged.eq(verdicts.valid & verdicts.ready),
        ]
        if config.read_levels:
            m.d.comb += effort.retries.eq(page.source.level)
        bits = Mux(verdict.failed, 0, verdict.corrected)
        m.d.comb += bits_now.eq(Mux(first, 0, bits_before) + bits)
        with m.If(judged):
            m.d.sync += [failed_before.eq(failed), bits_before.eq(bits_now)]

        # Counted a clock later, and pages two, when all their bits are summed up.
        ended = Signal()
        m.d.sync += [
            self.counts.bits_corrected.eq(Mux(judged, bits, 0)),
            self.counts.words_uncorrectable.eq(judged & verdict.failed),
            ended.eq(leaves & ~failed),
        ]
        total, counts = bits_before, self.counts
        m.d.comb += [
            *(counts[f"pages_corrected_{1 << low}"].eq(ended & (total >> low == 1)) for low in range(4)),
            counts.pages_corrected_16.eq(ended & (total >> 4 != 0)),
        ]
        return m
