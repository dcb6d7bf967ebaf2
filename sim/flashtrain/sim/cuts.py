"""Where hub, channel and die are cut into parts for the library (`parts.py`), and what is known of these.

`OPTIONS` are those of `PartsClass`.
"""

from flashtrain.rtl.arbiter import StreamMerge
from flashtrain.rtl.axi_guard import AxiGuard
from flashtrain.rtl.centre import Centre
from flashtrain.rtl.channel.block_table import BlockTable
from flashtrain.rtl.channel.bus_arbiter import BusArbiter
from flashtrain.rtl.channel.bus_controller import BusController
from flashtrain.rtl.channel.bus_rest import BusRest
from flashtrain.rtl.channel.bus_speller import BusSpeller
from flashtrain.rtl.channel.countdown import Countdown
from flashtrain.rtl.channel.counters import ChannelCounters
from flashtrain.rtl.channel.die_agent import DieAgent
from flashtrain.rtl.channel.free_pages import FreePages
from flashtrain.rtl.channel.gearbox import PageSerializer
from flashtrain.rtl.channel.page_sender import PageSender
from flashtrain.rtl.channel.page_sets import PageSets
from flashtrain.rtl.channel.program_results import ProgramResults
from flashtrain.rtl.channel.read_buffer import ReadBuffer
from flashtrain.rtl.channel.read_intake import ReadIntake
from flashtrain.rtl.channel.set_identities import SetIdentities
from flashtrain.rtl.channel.timer import Timer
from flashtrain.rtl.die.control import CommandControl
from flashtrain.rtl.die.page_registers import PageRegisters
from flashtrain.rtl.die.sequencer import Sequencer
from flashtrain.rtl.die.tile_decoder import TileDecoder
from flashtrain.rtl.die.tile_encoder import TileEncoder
from flashtrain.rtl.die.update import UpdateUnit
from flashtrain.rtl.die.updater import Updater
from flashtrain.rtl.frontend.clockwork import HubClockwork
from flashtrain.rtl.frontend.completion import CompletionWriter
from flashtrain.rtl.frontend.decode import Decoder
from flashtrain.rtl.frontend.fetch import SubmissionFetch
from flashtrain.rtl.frontend.registers import RegisterFile
from flashtrain.rtl.frontend.tracker import CommandTracker
from flashtrain.rtl.frontend.write_mux import WriteMux
from flashtrain.rtl.read.returner import ReadReturner
from flashtrain.rtl.read.splitter import ReadSplitter
from flashtrain.rtl.write.announcer import Announcer
from flashtrain.rtl.write.fetcher import PageFetcher
from flashtrain.rtl.zones.allocator import ZoneAllocator
from flashtrain.rtl.zones.erase import EraseBroadcast
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.rtl.zones.report import ZoneReport
from flashtrain.sim.nand import SHARED_PINS
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.sim.parts import Apart

HUB_PARTS = (
    RegisterFile, SubmissionFetch, Decoder, CommandTracker, CompletionWriter, WriteMux, AxiGuard,
    StreamMerge, ZoneManager, ZoneAllocator, ZoneReport, EraseBroadcast, Announcer, PageFetcher,
    ReadSplitter, ReadReturner, HubClockwork, Centre,
)  # fmt: skip
# What comes from the channels, a piece of each, now and then.
HUB_APARTS = (
    Apart(Centre, "events", (), ("programmed_slice_*",)),
    Apart(Centre, "heads", (), ("head_slice_*",)),
    Apart(ReadReturner, "choice", ("requests", "advance", "chosen__*", "heads__*__ready"), ("turn",)),
)
HUB_OPTIONS = {
    "restless": ("clockwork",),
    # What channels do not look at is no news for them.
    "polled": ("queue__*", "data__*", "registers__*", "irq"),
}
CHANNEL_PARTS = (
    PageSets, SetIdentities, ProgramResults, PageSerializer, ReadIntake, ReadBuffer, FreePages,
    PageSender, BusController, BusArbiter, BusRest, BusSpeller, BlockTable, EraseBroadcast, DieAgent,
    Countdown, ChannelCounters, Timer, PinChecker,
)  # fmt: skip
# What stays as it is while a page passes, of what moves with each of its beats.
_BUS_OPERATION = Apart(BusController, "operation", (
    "bus_state", "over", "die", "request", "offline", "step", "next_step", "takes", "takes_named",
    "valid", "kinds__*", "room", "granted", "sent", "op", "row", "lookup__place", "fetch__payload",
    "fetch__valid", "beats__ready", "fill__payload", "fill__valid", "invented", "requests__*__ready",
    "done__*",
))  # fmt: skip
_BUS_PINS = Apart(BusController, "pins", (
    "selected", "cle", "ale", "we", "dqs", "re", "dq", "nand__*", "activity",
))  # fmt: skip
# And what moves with each beat, of what moves once for a page.
_READ_BEATS = Apart(
    ReadBuffer, "beats", ("copy_room", "write__addr", "write__data", "write__en"),
    ("packer", "walk", "memory", "keys", "corrector"),
)  # fmt: skip
# And what is counted now and then, of what is in each clock.
_EVENTS = Apart(ChannelCounters, "events", (
    "events", "programs", "pages_*", "senses", "buffer_hits", "erases", "failures", "dies_offline",
))  # fmt: skip
CHANNEL_APARTS = (_BUS_OPERATION, _BUS_PINS, _READ_BEATS, _EVENTS)
_CHANNEL_PROMPT = (
    DieAgent, Countdown, SetIdentities, ProgramResults, ReadIntake, BusArbiter, BusSpeller, BusRest,
    _BUS_OPERATION, _BUS_PINS, ReadBuffer, _EVENTS,
)  # fmt: skip
CHANNEL_OPTIONS = {
    "restless": ("engine_clockwork_counters",),
    "prompt": _CHANNEL_PROMPT,
    "busy": {Timer: "port__running"},
    "silent": ("cycle",),
    # What the hub does not look at is no news for it.
    "polled": ("counter_value", "violations"),
    "reports": {"pins": tuple(f"nand__{name}" for name in (*SHARED_PINS, "ce_n"))},
    "guards": {
        ("engine_works_read_buffer_sender", "pages__payload"): ("pages__valid",),
        ("engine_works_read_buffer_beats", "identity"): ("identified", "ends"),
        ("checker", "dq_o"): ("we", "dqs_o"),
        ("checker", "dq_i"): ("hears",),
    },
}
_SEQUENCE_TIMER = Apart(Sequencer, "timer", ("timer", "counting"))
DIE_APARTS = (_SEQUENCE_TIMER,)
DIE_OPTIONS = {
    "prompt": (Sequencer, CommandControl),
    "busy": {_SEQUENCE_TIMER: "counting"},
    "silent": ("cycle",),
    "polled": ("violations",),
    "reports": {"rest": ("resting", "wake")},
    "enables": {"logic_registers": "moves"},
    # Data count only together with these.
    "guards": {
        ("logic_control", "dq_o"): ("we",),
        ("logic_registers", "tile__operand"): ("tile_came",),
        ("logic_registers", "identities__found"): ("identity_came",),
        ("logic_registers", "lane"): ("put", "ask"),
        ("logic_registers", "lane_in"): ("put",),
        ("logic_registers", "words__to_register"): ("words__put",),
        ("logic_registers", "tile__result"): ("tile__write",),
        ("logic_registers", "identities__content"): ("identities__write",),
    },
}
DIE_PARTS = (CommandControl, Sequencer, PageRegisters, Updater, UpdateUnit, TileDecoder, TileEncoder)
