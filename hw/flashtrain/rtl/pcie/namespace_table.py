"""The table of namespaces, which firmware writes beside the mailbox."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import NAMESPACES, NamespaceWord
from flashtrain.spec.registers import MAX_STREAMS

from .layouts import DWORD_BITS, Access, NamespaceSettings, bits_of


class NamespaceTable(wiring.Component):
    """A word for each namespace in the registers of firmware (`spec.pcie.NAMESPACES`), beside the mailbox.

    Firmware writes a word while no command of a host is open. Whether unwritten blocks are errors may change
    at any time, for commands that come later.

    Latency: none to the mailbox and from it, 1 cycle from a read to its answer.

    Members
    -------
    accesses : In(stream(Access)), values : Out(stream(32))     of firmware
    others : Out(stream(Access)), answers : In(stream(32))      of the mailbox, which serves one at a time
    namespaces : Out(NamespaceSettings).array(MAX_STREAMS)      by NSID - 1
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "accesses": In(stream.Signature(Access())),
            "values": Out(stream.Signature(DWORD_BITS)),
            "others": Out(stream.Signature(Access())),
            "answers": In(stream.Signature(DWORD_BITS)),
            "namespaces": Out(NamespaceSettings(config)).array(MAX_STREAMS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        access, index_bits = self.accesses.payload, bits_for(MAX_STREAMS)
        mine, answers, value = Signal(), Signal(), Signal(DWORD_BITS)
        number, word = access.offset[:index_bits], Signal(DWORD_BITS)
        m.d.comb += [
            mine.eq(access.offset[index_bits:] == NAMESPACES // 4 >> index_bits),
            self.others.payload.eq(access),
            self.others.valid.eq(self.accesses.valid & ~mine & ~answers),
            # The mailbox is ready for an access when it has no answer to give.
            self.accesses.ready.eq(self.others.ready & ~answers),
            self.values.valid.eq(answers | self.answers.valid),
            self.values.payload.eq(Mux(answers, value, self.answers.payload)),
            self.answers.ready.eq(self.values.ready & ~answers),
        ]
        fields = {name: getattr(NamespaceWord, name) for name, _ in self.namespaces[0].shape()}
        with m.Switch(number):
            for place, one in enumerate(self.namespaces):
                with m.Case(place):
                    for name, field in fields.items():
                        m.d.comb += bits_of(word, field).eq(Value.cast(one[name]))
        with m.If(self.values.ready):
            m.d.sync += answers.eq(0)
        with m.If(self.accesses.valid & self.accesses.ready & mine):
            m.d.sync += [answers.eq(~access.write), value.eq(word)]
            with m.If(access.write), m.Switch(number):
                for place, one in enumerate(self.namespaces):
                    with m.Case(place):
                        for name, field in fields.items():
                            m.d.sync += Value.cast(one[name]).eq(bits_of(access.data, field))
        return m
