"""The interface between the front end and a channel engine."""

from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import (
    STREAM_BITS,
    EngineInterface,
    PageEvent,
    PortCycle,
    ReadHead,
    ReadPage,
    SpareUse,
    WritePage,
    has_engine_interface,
)
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.spec import FmsConfig

from .counters import COUNTER_BITS, SELECT_BITS


class ChannelInterface(wiring.Signature):
    """One channel engine as the front end sees it.

    All channels share the buses of page data. Write data are in `ChannelBroadcast`. The controller passes on
    the read data of the channel with `read_chosen`.

    Members
    -------
    pages : Out(stream(WritePage))        accepted when their place is reserved; their data follow
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
    flushed : In(1)                       pulse: every page that the flush found is programmed
    ready : In(1)                         block table and dies are initialised
    idle : In(1)                          no die is busy and nothing is pending; page sets may be open
    counter_value : In(48)                see `ChannelCounters`

    With a command port:

    pause : Out(1)                        the engine is to begin no bus operation
    paused : In(1)                        none is under way
    cycles : Out(stream(PortCycle)), answers : In(stream(8))   see `CommandPort`

    With SDR as data interface and a command port:

    interface : Out(EngineInterface)      constant while the engine works
    """

    def __init__(self, config: FmsConfig):
        spare_use = {"spare_use": Out(stream.Signature(SpareUse(config)))}
        port = {
            "pause": Out(1),
            "paused": In(1),
            "cycles": Out(stream.Signature(PortCycle(config))),
            "answers": In(stream.Signature(8)),
        }
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
            **(port if config.command_port else {}),
            **({"interface": Out(EngineInterface())} if has_engine_interface(config) else {}),
        })  # fmt: skip


class ChannelBroadcast(wiring.Signature):
    """Signals that the front end sends to all channel engines alike.

    Members
    -------
    data : Out                                     write data, for the channel whose `data_valid` is high
    counter_select : Out, counter_sample : Out(1)  see `ChannelCounters`
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "data": Out(8 * config.data_bytes),
            "counter_select": Out(SELECT_BITS),
            "counter_sample": Out(1),
        })  # fmt: skip
