"""Between the centre and a channel engine."""

from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from .channel.counters import COUNTER_BITS
from .layouts import STREAM_BITS, PageEvent, ReadHead, ReadPage, SpareUse, WritePage
from .zones.erase import EraseRequest, EraseResult


class ChannelPorts(wiring.Signature):
    """What the centre exchanges with one channel engine, as the centre sees it.

    Write data and the number of the counter are not here: they are the same for all channels. Nor are read
    data: those of the channel whose `read_chosen` is high go to the centre.

    Members
    -------
    pages : Out(stream(WritePage))        accepted when their place is reserved; their data follows
    programmed : In(stream(PageEvent))    pages whose program has passed or failed, likewise updated tiles;
      constants that a die has
    reads : Out(stream(ReadPage))
    read_head : In(stream(ReadHead))      pages that are ready
    read_valid : In(1), read_ready : Out(1)   the beats of accepted heads, in their order
    read_chosen : Out(1)                  this channel's beats come next
    erase : Out(stream(EraseRequest)), erased : In(stream(EraseResult))
    spare_use : Out(stream(SpareUse))     in recovery, if there are spare blocks
    raw : Out(1)                          in recovery, see `ReadBuffer`
    flush : Out(stream(STREAM_BITS))
    flushed : In(1)                       pulse: what the flush found is programmed
    ready : In(1)                         initialised
    idle : In(1)                          no die is busy and nothing waits; page sets may be open
    counter_value : In(48)
    """

    def __init__(self, config: FmsConfig):
        spare_use = {"spare_use": Out(stream.Signature(SpareUse(config)))}
        super().__init__({
            "pages": Out(stream.Signature(WritePage(config))),
            "programmed": In(stream.Signature(PageEvent(config))),
            "reads": Out(stream.Signature(ReadPage(config))),
            "read_head": In(stream.Signature(ReadHead(config))),
            "read_valid": In(1),
            "read_ready": Out(1),
            "read_chosen": Out(1),
            "erase": Out(stream.Signature(EraseRequest(config))),
            "erased": In(stream.Signature(EraseResult())),
            **(spare_use if config.geometry.spare_blocks else {}),
            "raw": Out(1),
            "flush": Out(stream.Signature(STREAM_BITS)),
            "flushed": In(1),
            "ready": In(1),
            "idle": In(1),
            "counter_value": In(COUNTER_BITS),
        })  # fmt: skip
