"""Pages out of the read buffer."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..identity import RECORD_BITS
from ..layouts import PageTarget, ReadEffort, ReadHead


class CompletePage(data.StructLayout):
    """A page that is in the read buffer, and where. `failed`: with a code, it could not be corrected."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "number": bits_for(config.read_pages),
            "target": PageTarget(config),
            "identity": RECORD_BITS,
            "failed": int(config.code is not None),
            "effort": ReadEffort(config),
        })  # fmt: skip


class PageSender(wiring.Component):
    """Offers complete pages, and reads the words of those that are accepted from a memory.

    Others may use the memory's read port. A word that the memory's output still holds for the sender is read
    again after that, so others never wait for the words to be taken: only while the last word of a page is
    held, whose buffer is free already.

    Latency: a page's first word comes 3 clocks after its head is accepted if the sender was idle.
    Throughput: one word per clock, without a gap between pages whose heads are accepted in time; a read of
    others costs 1 or 2 clocks.

    Members
    -------
    pages : In(stream(CompletePage))
    read_head : Out(stream(ReadHead))  up to two are accepted ahead of their words
    read_data : Out(stream)            page_beats words for each accepted head, in their order
    read : Out(1), address : Out       read the memory; address of a word within all pages
    word : In                          its output, a clock later
    returns : Out(1), returned : Out   the buffer that is free again
    others_want : In(1)                somebody else wants to read the memory
    others_read : Out(1)               and does so in this clock
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
            "others_want": In(1),
            "others_read": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, page, head = self.config, self.pages.payload, self.read_head.payload
        number_bits = len(self.returned)

        # Pages whose head is accepted: the one that is read out, and one after it.
        sending, sent_number, sent_word = Signal(), Signal(number_bits), Signal(range(config.page_beats))
        waiting, waiting_number = Signal(), Signal(number_bits)
        last_word = Signal()
        sent = Signal(8 * config.data_bytes, reset_less=True)  # a block memory has such a register
        there, moves = Signal(), Signal()  # a word at the memory's output, on to the register behind it
        free, again = Signal(), Signal()  # nobody needs what is at the memory's output; it can be read again
        m.d.comb += [
            self.read_head.valid.eq(self.pages.valid & ~waiting),
            head.tag.eq(page.target.tag),
            head.page.eq(page.target.page),
            head.failed.eq(page.failed),
            head.from_array.eq(page.target.from_array),
            head.identity.eq(page.identity),
            head.effort.eq(page.effort),
            self.pages.ready.eq(self.read_head.ready & ~waiting),
            self.read_data.payload.eq(sent),
            moves.eq(there & (~self.read_data.valid | self.read_data.ready)),
            free.eq(~there | moves),
            again.eq(~free & (sent_word != 0)),
            self.others_read.eq(self.others_want & (free | again)),
            self.read.eq(sending & free & ~self.others_want),
            self.address.eq(Cat(sent_word, sent_number)),
            last_word.eq(self.read & sent_word.all()),
            self.returns.eq(last_word),
            self.returned.eq(sent_number),
        ]
        with m.If(self.read):
            m.d.sync += [there.eq(1), sent_word.eq(sent_word + 1)]
        with m.Elif(moves | self.others_read):
            m.d.sync += there.eq(0)
            with m.If(self.others_read & again):
                m.d.sync += sent_word.eq(sent_word - 1)
        with m.If(moves):
            m.d.sync += [self.read_data.valid.eq(1), sent.eq(self.word)]
        with m.Elif(self.read_data.ready):
            m.d.sync += self.read_data.valid.eq(0)
        with m.If(~sending | last_word):
            m.d.sync += [sending.eq(waiting), sent_number.eq(waiting_number), waiting.eq(0)]
        with m.If(self.read_head.valid & self.read_head.ready):
            m.d.sync += [waiting.eq(1), waiting_number.eq(page.number)]
        return m
