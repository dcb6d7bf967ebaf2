"""Read return: pages from the channels' read buffers to the tensor buffer."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.identity import RECORD_BITS
from flashtrain.rtl.layouts import PagePart, ReadHead, ReadJob, ReturnedPage, coded, parted
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.bursts import PageBursts
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.streams import Queue, RegisterSlice, behind, encode, in_turn, select
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

from .decoder_lanes import lane_count
from .page_check import CheckedPage, ChosenPage, PageCheck, opened_ports

PAGES_OUTSTANDING = 8


class Route(data.StructLayout):
    """The channel of a page's beats, and their treatment: `masked` pages are not written."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "channel": max(1, config.geometry.channel_bits),
            "masked": 1,
            "inspect": 1,
            "identity": RECORD_BITS,
            **parted(config),
            **coded(config, {"decodes": 1, "lane": bits_for(lane_count(config))}),  # to a decoder lane
        })  # fmt: skip


class ReturnArbiter(wiring.Component):
    """Chooses among the heads that the channels offer, round robin.

    Latency: 1 cycle from a head to the choice, whose head then passes. Throughput: one head in 2 cycles.

    Members
    -------
    heads : In(stream(ReadHead)).array(channels)
    chosen : Out(stream(ChosenPage))   the chosen head, and the number of its channel
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "heads": In(stream.Signature(ReadHead(config))).array(config.geometry.channels),
            "chosen": Out(stream.Signature(ChosenPage(config))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        requests, chosen, above = (
            Signal(len(self.heads), name=name) for name in ("requests", "chosen", "above")
        )
        m.d.comb += [
            requests.eq(Cat(item.valid for item in self.heads)),
            self.chosen.payload.channel.eq(encode(chosen, len(self.chosen.payload.channel))),
            Value.cast(self.chosen.payload.head).eq(select(chosen, [item.payload for item in self.heads])),
        ]
        with m.If(~self.chosen.valid):
            m.d.sync += [self.chosen.valid.eq(requests.any()), chosen.eq(in_turn(requests, above))]
        with m.Elif(self.chosen.ready):
            m.d.sync += [self.chosen.valid.eq(0), above.eq(behind(chosen))]
        for number, item in enumerate(self.heads):
            m.d.comb += item.ready.eq(self.chosen.valid & self.chosen.ready & chosen[number])
        return m


class ReadReturn(wiring.Component):
    """Writes the pages that channels offer to the tensor buffer, round robin.

    Channels are chosen ahead, so that the beats of one page follow those of the last without an idle cycle.
    A page that fails its check is written with all strobes off, and its event is a failure. Pages of streams
    with a codec go to a decoder lane instead (`DecoderLanes`). Of a page that is not whole the beats of its
    part come, and are written.

    Latency: 8 cycles from a channel's head to its first beat, 5 of a page that does not come from an array;
    1 cycle from the last response to the event.
    Throughput: one beat per cycle.

    Members
    -------
    job : In(ReadJob), job_begins : In(1)   see `PageCheck`
    opened : In(1), opened_tag : In         with a codec, likewise
    heads : In(stream(ReadHead)).array(channels)
    data_valid : In(channels), data_ready : Out(channels)  the beats of accepted heads, in their order
    data_chosen : Out(channels)   the channel whose beats come next
    data : In(16 * channels)      its beats
    axi : Out(WritePort)
    returned : Out(stream(ReturnedPage))  a page is in the tensor buffer
    lane_pages, lane, lane_valid, lane_ready   with a codec, to `DecoderLanes`
    page_read, busy : Out(1)           pulse per page; a beat is transferred
    stall_memory, no_page : Out(1)     stall: the tensor buffer is not ready; no page is chosen
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels, bits = config.geometry.channels, 8 * config.data_bytes
        super().__init__({
            "job": In(ReadJob(config)),
            "job_begins": In(1),
            **opened_ports(config),
            "heads": In(stream.Signature(ReadHead(config))).array(channels),
            "data": In(bits),
            "data_valid": In(channels),
            "data_ready": Out(channels),
            "data_chosen": Out(channels),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=bits)),
            "returned": Out(stream.Signature(ReturnedPage(config))),
            **coded(config, {
                "lane_pages": Out(stream.Signature(CheckedPage(config))),
                "lane": In(bits_for(lane_count(config))),
                "lane_valid": Out(lane_count(config)),
                "lane_ready": In(lane_count(config)),
            }),
            "page_read": Out(1),
            "busy": Out(1),
            "stall_memory": Out(1),
            "no_page": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, bursts = self.config, PageBursts(self.config, by_parts=self.config.part_bytes > 0)

        m.submodules.arbiter = arbiter = ReturnArbiter(config)
        m.submodules.check = check = PageCheck(config)
        for number in range(config.geometry.channels):
            wiring.connect(m, wiring.flipped(self.heads[number]), arbiter.heads[number])
        wiring.connect(m, arbiter.chosen, check.chosen)
        m.d.comb += [check.job.eq(self.job), check.job_begins.eq(self.job_begins)]
        forward(m, check, self, opened_ports(config))

        # The page enters three queues: of its bursts, of the route of its beats, of its event.
        m.submodules.bursts = requests = Queue(config.buffer_block_bits, 3)
        m.submodules.routes = routes = Queue(Route(config), 3)
        m.submodules.events = events = Queue(ReturnedPage(config), PAGES_OUTSTANDING)
        checked = check.checked.payload
        room = requests.input.ready & routes.input.ready & events.input.ready
        m.d.comb += [
            check.checked.ready.eq(room),
            requests.input.payload.eq(checked.buffer_block),
            routes.input.payload.channel.eq(checked.channel),
            routes.input.payload.masked.eq(checked.failed),
            routes.input.payload.inspect.eq(checked.inspect),
            routes.input.payload.identity.eq(checked.identity),
            *([routes.input.payload.part.eq(checked.part)] if config.part_bytes else []),
            events.input.payload.tag.eq(checked.tag),
            events.input.payload.failed.eq(checked.failed),
            events.input.payload.effort.eq(checked.effort),
        ]
        m.d.comb += [queue.input.valid.eq(check.checked.valid & room) for queue in (requests, routes, events)]
        if config.codec:
            m.d.comb += [
                routes.input.payload.decodes.eq(checked.codec != Codec.RAW),
                routes.input.payload.lane.eq(self.lane),
                self.lane_pages.payload.eq(checked),
            ]
            with m.If(checked.codec != Codec.RAW):
                m.d.comb += [
                    check.checked.ready.eq(routes.input.ready & self.lane_pages.ready),
                    self.lane_pages.valid.eq(check.checked.valid & routes.input.ready),
                    routes.input.valid.eq(check.checked.valid & self.lane_pages.ready),
                    requests.input.valid.eq(0),
                    events.input.valid.eq(0),
                ]

        burst = Signal(range(bursts.count))
        last_burst, first_byte = bursts.count - 1, None
        if config.part_bytes:
            part = self._beside(m, requests, "burst_parts", checked.part)
            last_burst = _last(part, bursts.of_part)
            first_byte = part.target << bits_for(config.part_bytes)
        m.d.comb += [
            self.axi.aw.valid.eq(requests.output.valid),
            self.axi.aw.payload.address.eq(bursts.address(requests.output.payload, burst, first_byte)),
            self.axi.aw.payload.length.eq(bursts.beats - 1),
            requests.output.ready.eq(self.axi.aw.ready & (burst == last_burst)),
        ]
        with m.If(self.axi.aw.valid & self.axi.aw.ready):
            m.d.sync += burst.eq(0 if bursts.count == 1 else burst + 1)
        if config.part_bytes:
            with m.If(requests.output.valid & requests.output.ready):
                m.d.sync += burst.eq(0)

        route, chosen = routes.output, routes.output.payload
        beats = Signal(range(config.page_beats))
        last_beat = config.page_beats - 1
        if config.part_bytes:
            last_beat = _last(chosen.part, config.page_beats // config.page_parts)
        lane_moves = Signal()
        with m.If(route.valid):
            m.d.comb += [
                self.axi.w.valid.eq(self.data_valid.bit_select(chosen.channel, 1)),
                self.data_ready.eq(self.axi.w.ready << chosen.channel),
                self.data_chosen.eq(1 << chosen.channel),
            ]
            if config.codec:
                with m.If(chosen.decodes):
                    valid = self.data_valid.bit_select(chosen.channel, 1)
                    ready = self.lane_ready.bit_select(chosen.lane, 1)
                    m.d.comb += [
                        self.axi.w.valid.eq(0),
                        self.lane_valid.eq(valid << chosen.lane),
                        self.data_ready.eq(ready << chosen.channel),
                        lane_moves.eq(valid & ready),
                    ]
        m.d.comb += [
            self.axi.w.payload.data.eq(self.data),
            self.axi.w.payload.masked.eq(chosen.masked),
            self.axi.w.payload.last.eq(beats % bursts.beats == bursts.beats - 1),
            self.busy.eq(self.axi.w.valid & self.axi.w.ready),
            self.stall_memory.eq(self.axi.w.valid & ~self.axi.w.ready),
            self.no_page.eq(~self.axi.w.valid),
            route.ready.eq((self.busy | lane_moves) & (beats == last_beat)),
            self.page_read.eq(route.ready),
        ]
        with m.If(self.busy | lane_moves):
            m.d.sync += beats.eq(beats + 1)
        if config.part_bytes:
            with m.If(route.ready):
                m.d.sync += beats.eq(0)
        # The identity of an inspected page replaces its last bytes.
        bits = 8 * config.data_bytes
        last_beats = max(1, RECORD_BITS // bits)
        with m.If(chosen.inspect & (beats >= config.page_beats - last_beats)):
            if bits <= RECORD_BITS:
                m.d.comb += self.axi.w.payload.data.eq(chosen.identity.word_select(beats % last_beats, bits))
            else:
                m.d.comb += self.axi.w.payload.data[bits - RECORD_BITS :].eq(chosen.identity)

        responses = Signal(range(bursts.count))
        last_response = responses == bursts.count - 1
        if config.part_bytes:
            part = self._beside(m, events, "event_parts", checked.part)
            last_response = responses == _last(part, bursts.of_part)
        error = Signal()
        m.submodules.returned_slice = returned = RegisterSlice(ReturnedPage(config))
        wiring.connect(m, returned.output, wiring.flipped(self.returned))
        m.d.comb += [
            returned.input.valid.eq(self.axi.b.valid & last_response),
            returned.input.payload.tag.eq(events.output.payload.tag),
            returned.input.payload.effort.eq(events.output.payload.effort),
            returned.input.payload.failed.eq(events.output.payload.failed | error | self.axi.b.payload.error),
            self.axi.b.ready.eq(returned.input.ready | ~last_response),
            events.output.ready.eq(returned.input.valid & returned.input.ready),
        ]
        with m.If(self.axi.b.valid & self.axi.b.ready):
            m.d.sync += [
                responses.eq(self._next_response(responses, last_response)),
                error.eq(~last_response & (error | self.axi.b.payload.error)),
            ]
        return m

    def _next_response(self, responses: Signal, last_response: Value):
        if self.config.part_bytes:
            return Mux(last_response, 0, responses + 1)
        return 0 if len(responses) == 0 else responses + 1

    def _beside(self, m: Module, queue: Queue, name: str, part):
        """The part of each page in a queue."""
        m.submodules[name] = parts = Queue(PagePart(self.config), queue.depth)
        m.d.comb += [
            parts.input.payload.eq(part),
            parts.input.valid.eq(queue.input.valid),
            parts.output.ready.eq(queue.output.ready),
        ]
        return parts.output.payload


def _last(part, of_part: int) -> Value:
    """The number of the last burst, or beat, of a part, with so many in each."""
    bits = bits_for(of_part)
    return Cat(Const(of_part - 1, bits), PagePart.last(part))
