"""The write pipeline without its encoder, which is a model in the bench."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.codec.encoder import EncoderJob, EncoderPage
from flashtrain.rtl.datapath.write_pipeline import WriteFetch
from flashtrain.rtl.datapath.write_splitter import WriteSplitter
from flashtrain.rtl.lib.forward import forward
from flashtrain.spec import FmsConfig

OF_SPLITTER = ("jobs", "pages", "flush", "flush_done", "flushed", "issued", "settled", "stalled")
OF_FETCH = ("axi", "data_valid", "data", "data_room", "arrived")


class CodedWritePath(wiring.Component):
    """Splitter and fetch, joined as `WritePipeline` joins them.

    Members
    -------
    those of `OF_SPLITTER` and `OF_FETCH`
    encode : Out(stream(EncoderJob)), to_encoder : Out(stream(beat))       to the encoder
    encoded : In(stream(EncoderPage)), encoded_beats : In(stream(beat))    from it
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._splitter, self._fetch = WriteSplitter(config), WriteFetch(config)
        splitter, fetch = self._splitter.signature.members, self._fetch.signature.members
        bits = 8 * config.data_bytes
        super().__init__({
            **{name: splitter[name] for name in OF_SPLITTER},
            **{name: fetch[name] for name in OF_FETCH},
            "encode": Out(stream.Signature(EncoderJob(config))),
            "encoded": In(stream.Signature(EncoderPage())),
            "to_encoder": Out(stream.Signature(bits)),
            "encoded_beats": In(stream.Signature(bits)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = self._splitter
        m.submodules.fetch = fetch = self._fetch
        forward(m, splitter, self, (*OF_SPLITTER, "encode", "encoded"))
        forward(m, fetch, self, (*OF_FETCH, "to_encoder"))
        connect(m, flipped(self.encoded_beats), fetch.encoded)
        connect(m, splitter.allocated, fetch.allocated)
        m.d.comb += [
            fetch.encoded_page.eq(splitter.encoded.valid & splitter.encoded.ready),
            fetch.encoded_channel.eq(splitter.encoded_channel),
            fetch.clear.eq(splitter.settled.valid & splitter.settled.ready),
            splitter.fetch_failed.eq(fetch.failed),
        ]
        return m
