"""Between the centre and a channel engine."""

from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from .channel.counters import COUNTER_BITS
from .layouts import STREAM_BITS, PageEvent, ReadHead, ReadPage, WritePage
from .zones.erase import EraseRequest, EraseResult


class ChannelPorts(wiring.Signature):
    """What the centre exchanges with one channel engine, as the centre sees it.

    Write data and the number of the counter are not here: they are the same for all channels.

    Members
    -------
    pages : Out(stream(WritePage))        accepted when their place is reserved; their data follows
    programmed : In(stream(PageEvent))    pages whose program has passed or failed
    reads : Out(stream(ReadPage))
    read_head : In(stream(ReadHead))      pages that are ready
    read_data : In(stream)                the beats of accepted heads, in their order
    erase : Out(stream(EraseRequest)), erased : In(stream(EraseResult))
    flush : Out(stream(STREAM_BITS))
    flushed : In(1)                       pulse: what the flush found is programmed
    ready : In(1)                         initialised
    idle : In(1)                          no die is busy and nothing waits; page sets may be open
    counter_value : In(48)
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "pages": Out(stream.Signature(WritePage(config))),
            "programmed": In(stream.Signature(PageEvent(config))),
            "reads": Out(stream.Signature(ReadPage(config))),
            "read_head": In(stream.Signature(ReadHead(config))),
            "read_data": In(stream.Signature(8 * config.data_bytes)),
            "erase": Out(stream.Signature(EraseRequest(config))),
            "erased": In(stream.Signature(EraseResult())),
            "flush": Out(stream.Signature(STREAM_BITS)),
            "flushed": In(1),
            "ready": In(1),
            "idle": In(1),
            "counter_value": In(COUNTER_BITS),
        })  # fmt: skip
