"""Correction of pages in the read buffer."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from flashtrain.rtl.ecc.corrector import Corrector
from flashtrain.rtl.ecc.syndromes import PageSyndromes
from flashtrain.rtl.layouts import PageSource
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.gearbox import BEAT_BITS, Chunks
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.ecc import PageCode
from flashtrain.spec.geometry import bits_for

from .page_sender import CompletePage

WORDS_WAITING = 16
"""Code words of pages in correction. Errors come unevenly; this many words keep the bus from stalling."""

_MEMORY = ("read_request", "reads", "word", "write_request", "writes", "address", "number", "chunk")


def pages_corrected_at_once(config: FmsConfig, code: PageCode) -> int:
    """Pages between the bus and their verdict: one is filled while others wait."""
    return max(2, min(config.read_pages, WORDS_WAITING // code.words))


class CorrectionCounts(data.StructLayout):
    """The events of a cycle, under the names of `ChannelCounter`; empty without a code."""

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
    """A page from an array that is in the read buffer, and its source."""

    def __init__(self, config: FmsConfig):
        page = {name: field.shape for name, field in CompletePage(config)}
        super().__init__({**page, "source": PageSource(config)})


class Patch(data.StructLayout):
    """A correction: the bits of `mask` in a byte of a chunk of a word of a page buffer are inverted."""

    def __init__(self, config: FmsConfig):
        chunks = Chunks(config)
        super().__init__({
            "byte": bits_for(chunks.bits // 8),
            "chunk": bits_for(chunks.count),
            "word": bits_for(config.page_beats) + bits_for(config.read_pages),
            "mask": 8,
        })  # fmt: skip


class MemoryPatch(wiring.Component):
    """Reads a chunk, inverts bits of it and writes it back, in cycles that the memory is free.

    Latency: 3 cycles to the write if both ports are free. Throughput: one patch per 4 cycles.

    Members
    -------
    patches : In(stream(Patch))
    busy : Out(1)                            a patch is in progress
    read_request : Out(1), reads : In(1)     the memory is read at `address` in this cycle
    word : In                                its output, a cycle later
    write_request : Out(1), writes : In(1)   the chunk is written in this cycle
    address : Out, number : Out, chunk : Out   of the word, of the chunk in it, and its content
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        chunks, patch = Chunks(config), Patch(config)
        super().__init__({
            "patches": In(stream.Signature(patch)),
            "busy": Out(1),
            "read_request": Out(1),
            "reads": In(1),
            "word": In(8 * config.data_bytes),
            "write_request": Out(1),
            "writes": In(1),
            "address": Out(patch["word"].shape),
            "number": Out(patch["chunk"].shape),
            "chunk": Out(chunks.bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bits = Chunks(self.config).bits
        current = Signal(Patch(self.config))
        m.d.comb += [self.address.eq(current.word), self.number.eq(current.chunk), self.busy.eq(1)]
        change = Signal(bits)
        m.d.comb += change.eq(current.mask << (current.byte << 3))
        with m.FSM(name="patch"):
            with m.State("IDLE"):
                m.d.comb += [self.busy.eq(0), self.patches.ready.eq(1)]
                m.d.sync += current.eq(self.patches.payload)
                with m.If(self.patches.valid):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += self.read_request.eq(1)
                with m.If(self.reads):
                    m.next = "CHANGE"
            with m.State("CHANGE"):
                m.d.sync += self.chunk.eq(self.word.word_select(current.chunk, bits) ^ change)
                m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += self.write_request.eq(1)
                with m.If(self.writes):
                    m.next = "IDLE"
        return m


class PageCorrector(wiring.Component):
    """Holds pages from an array back until they are corrected.

    The read buffer stores beats as the bus brings them. The corrector computes the errors of a page while the
    next pages are filled. It corrects data in the read buffer's memory, and the identity in the page's
    record. A page with an uncorrectable code word has `failed`, and zeros for an identity.

    Latency: 7 cycles from a page's last beat to `corrected` without errors. Otherwise see `ecc.Corrector`,
    and 4 cycles more for each byte with errors, or longer while the memory is in use.
    Throughput: a beat per cycle. Capacity: `pages_corrected_at_once` pages, of `WORDS_WAITING` code words.

    Members
    -------
    room : Out(1)                        another page may start
    begins : In(1)                       pulse: it does
    valid : In(1), beat : In(16)         its beats, parity included
    pages : In(stream(FilledPage))       the page, with its last identity beat; always ready
    corrected : Out(stream(FilledPage))  with its effort
    counts : Out(CorrectionCounts)       except those of retries
    read_request, reads, word, write_request, writes, address, number, chunk   see `MemoryPatch`
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
            "pages": In(stream.Signature(FilledPage(config), always_ready=True)),
            "corrected": Out(stream.Signature(FilledPage(config))),
            "counts": Out(CorrectionCounts(config)),
            **{name: self._patch.signature.members[name] for name in _MEMORY},
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, code = self.config, self.code
        places = pages_corrected_at_once(config, code)
        m.submodules.syndromes = syndromes = PageSyndromes(code, BEAT_BITS, always_ready=True)
        m.submodules.corrector = corrector = Corrector(code, parallel=8, room=places * code.words)
        m.submodules.waiting = waiting = Queue(FilledPage(config), places)
        m.submodules.patch = patch = self._patch
        forward(m, patch, self, _MEMORY)
        # There is room for the syndromes of all pages here, so every beat is accepted in its cycle.
        m.d.sync += [syndromes.input.valid.eq(self.valid), syndromes.input.payload.eq(self.beat)]
        connect(m, syndromes.output, corrector.inputs[0])
        verdicts, corrections = corrector.verdicts, corrector.corrections
        verdict, correction = verdicts.payload, corrections.payload

        # The oldest page is corrected: its data and identity are here before its first verdict.
        present, page = Signal(), Signal(FilledPage(config))
        leaves, pages = Signal(), Signal(range(places + 1))
        m.d.comb += [
            waiting.input.valid.eq(self.pages.valid),
            waiting.input.payload.eq(self.pages.payload),
            leaves.eq(self.corrected.valid & self.corrected.ready),
            waiting.output.ready.eq(~present | leaves),
            self.room.eq(pages != places),
        ]
        m.d.sync += pages.eq(pages + self.begins - leaves)
        with m.If(waiting.output.ready):
            m.d.sync += [present.eq(waiting.output.valid), page.eq(waiting.output.payload)]

        # Positions count bytes; the identity follows the data.
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
            patch.patches.valid.eq(corrections.valid & present & ~in_identity),
            corrections.ready.eq(present & (in_identity | patch.patches.ready)),
        ]
        with m.If(corrections.valid & present & in_identity):
            wrong = correction.mask << (in_page[:4] << 3)
            m.d.sync += page.identity.eq(page.identity ^ wrong)

        # The verdicts on its words so far.
        first, last = verdict.word == 0, verdict.word == code.words - 1
        judged, failed = Signal(), Signal()
        failed_before, bits_before = Signal(), Signal(range(code.words * code.strength + 1))
        bits_now = Signal.like(bits_before)
        effort = self.corrected.payload.effort
        most = (1 << len(effort.corrected)) - 1
        saturates = code.words * code.strength > most
        m.d.comb += [
            failed.eq(verdict.failed | (failed_before & ~first)),
            self.corrected.valid.eq(verdicts.valid & last & present & ~patch.busy),
            self.corrected.payload.eq(page),
            self.corrected.payload.failed.eq(failed),
            self.corrected.payload.identity.eq(Mux(failed, 0, page.identity)),
            effort.corrected.eq(Mux(bits_now > most, most, bits_now) if saturates else bits_now),
            verdicts.ready.eq(present & (~last | (self.corrected.ready & ~patch.busy))),
            judged.eq(verdicts.valid & verdicts.ready),
        ]
        if config.read_levels:
            m.d.comb += effort.retries.eq(page.source.level)
        bits = Mux(verdict.failed, 0, verdict.corrected)
        m.d.comb += bits_now.eq(Mux(first, 0, bits_before) + bits)
        with m.If(judged):
            m.d.sync += [failed_before.eq(failed), bits_before.eq(bits_now)]

        # Counted a cycle later, and pages two, when the sum of their bits is complete.
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
