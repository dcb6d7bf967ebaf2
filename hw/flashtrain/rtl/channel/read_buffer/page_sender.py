"""Complete pages of the read buffer: sent to the tensor buffer, and their page buffers freed."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.identity import RECORD_BITS
from flashtrain.rtl.layouts import PagePart, PageTarget, ReadEffort, ReadHead
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for


class CompletePage(data.StructLayout):
    """A complete page and its page buffer, `number`. `failed`: with a code, it could not be corrected."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "number": bits_for(config.read_pages),
            "target": PageTarget(config),
            "identity": RECORD_BITS,
            "failed": int(config.code is not None),
            "effort": ReadEffort(config),
        })  # fmt: skip


class FreePages(wiring.Component):
    """The free list of the page buffers: numbers below `count`, a power of two, returned in any order.

    After reset the numbers come from a counter, so no list has to be filled.

    Latency: 1 cycle from a return to the output. Throughput: one number per cycle. Cost: a queue of `count`
    numbers and a counter.

    Members
    -------
    output : Out(stream(range(count)))
    returns : In(1), returned : In(range(count))   pulse: this number is free again
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "output": Out(stream.Signature(bits_for(count))),
            "returns": In(1),
            "returned": In(bits_for(count)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.numbers = numbers = Queue(bits_for(self.count), self.count)
        unused = Signal(range(self.count + 1), init=self.count)
        m.d.comb += [
            numbers.input.valid.eq(self.returns),
            numbers.input.payload.eq(self.returned),
        ]
        with m.If(unused != 0):
            m.d.comb += [self.output.valid.eq(1), self.output.payload.eq(self.count - unused)]
            with m.If(self.output.ready):
                m.d.sync += unused.eq(unused - 1)
        with m.Else():
            m.d.comb += [
                self.output.valid.eq(numbers.output.valid),
                self.output.payload.eq(numbers.output.payload),
                numbers.output.ready.eq(self.output.ready),
            ]
        return m


class PageSender(wiring.Component):
    """Offers complete pages, and reads the words of accepted pages from a memory.

    Another unit shares the memory's read port, with priority. Its read may replace a word that the sender has
    not taken from the memory's output; the sender then reads the word again. Only the last word of a
    page delays the other unit: the page's buffer is free already.

    Latency: a page's first word is valid 3 cycles after its head is accepted if the sender was idle.
    Throughput: one word per cycle, without a gap between pages whose heads are accepted in time; a read of
    the other unit costs 1 or 2 cycles.

    Members
    -------
    pages : In(stream(CompletePage))
    read_head : Out(stream(ReadHead))  up to two are accepted ahead of their words
    read_data : Out(stream)            page_beats words per accepted head, or those of its part, in order
    read : Out(1), address : Out       read the memory; address of a word within all pages
    word : In                          its output, a cycle later
    returns : Out(1), returned : Out   pulse: this buffer is free again
    other_requests : In(1)             the other unit requests the read port
    other_reads : Out(1)               it is granted in this cycle
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        word_bits, number_bits = 8 * config.data_bytes, bits_for(config.read_pages)
        super().__init__({
            "pages": In(stream.Signature(CompletePage(config))),
            "read_head": Out(stream.Signature(ReadHead(config))),
            "read_data": Out(stream.Signature(word_bits)),
            "read": Out(1),
            "address": Out(bits_for(config.page_beats) + number_bits),
            "word": In(word_bits),
            "returns": Out(1),
            "returned": Out(number_bits),
            "other_requests": In(1),
            "other_reads": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, page, head = self.config, self.pages.payload, self.read_head.payload
        number_bits = len(self.returned)

        # Pages whose head is accepted: the one that is read out, and one after it.
        sending, sent_number, sent_word = Signal(), Signal(number_bits), Signal(range(config.page_beats))
        waiting, waiting_number = Signal(), Signal(number_bits)
        last_word = Signal()
        if config.part_bytes:
            waiting_part = Signal(PagePart(config))
            last_sent = Signal.like(sent_word)
        sent = Signal(8 * config.data_bytes, reset_less=True)  # a block memory has such a register
        held, taken = Signal(), Signal()  # a word at the memory's output; it enters the register behind it
        free, repeatable = Signal(), Signal()  # the output holds no word; its word can be read again
        m.d.comb += [
            self.read_head.valid.eq(self.pages.valid & ~waiting),
            head.tag.eq(page.target.tag),
            head.buffer_block.eq(page.target.buffer_block),
            head.failed.eq(page.failed),
            head.from_array.eq(page.target.from_array),
            head.identity.eq(page.identity),
            head.effort.eq(page.effort),
            *([head.part.eq(page.target.part)] if config.part_bytes else []),
            self.pages.ready.eq(self.read_head.ready & ~waiting),
            self.read_data.payload.eq(sent),
            taken.eq(held & (~self.read_data.valid | self.read_data.ready)),
            free.eq(~held | taken),
            repeatable.eq(~free & (sent_word != 0)),
            self.other_reads.eq(self.other_requests & (free | repeatable)),
            self.read.eq(sending & free & ~self.other_requests),
            self.address.eq(Cat(sent_word, sent_number)),
            last_word.eq(self.read & (sent_word == last_sent if config.part_bytes else sent_word.all())),
            self.returns.eq(last_word),
            self.returned.eq(sent_number),
        ]
        with m.If(self.read):
            m.d.sync += [held.eq(1), sent_word.eq(sent_word + 1)]
        with m.Elif(taken | self.other_reads):
            m.d.sync += held.eq(0)
            with m.If(self.other_reads & repeatable):
                m.d.sync += sent_word.eq(sent_word - 1)
        with m.If(taken):
            m.d.sync += [self.read_data.valid.eq(1), sent.eq(self.word)]
        with m.Elif(self.read_data.ready):
            m.d.sync += self.read_data.valid.eq(0)
        with m.If(~sending | last_word):
            m.d.sync += [sending.eq(waiting), sent_number.eq(waiting_number), waiting.eq(0)]
        with m.If(self.read_head.valid & self.read_head.ready):
            m.d.sync += [waiting.eq(1), waiting_number.eq(page.number)]
        if config.part_bytes:
            bits = bits_for(config.part_bytes // config.data_bytes)
            with m.If(~sending | last_word):
                m.d.sync += [
                    sent_word.eq(waiting_part.before << bits),
                    last_sent.eq(~(waiting_part.behind << bits)),
                ]
            with m.If(self.read_head.valid & self.read_head.ready):
                m.d.sync += waiting_part.eq(page.target.part)
        return m
