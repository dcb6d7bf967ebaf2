"""The plans by which the RTL Link cuts front end, channel and die.

A plan belongs to a configuration: it names hardware only where the configuration has it.
"""

from flashtrain.rtl.channel.block_table import BlockTable
from flashtrain.rtl.channel.bus.bus_arbiter import BusArbiter, Turnaround
from flashtrain.rtl.channel.bus.bus_controller import BusController, OperationControl
from flashtrain.rtl.channel.bus.bus_cycles import CycleSequencer, PinDriver
from flashtrain.rtl.channel.bus.command_part import CommandPart
from flashtrain.rtl.channel.bus.data_part import DataPart
from flashtrain.rtl.channel.bus.packet_sender import PacketSender
from flashtrain.rtl.channel.bus.split_control import SplitControl
from flashtrain.rtl.channel.counters import ChannelCounters, EventCounters
from flashtrain.rtl.channel.die_agent.die_agent import DieAgent
from flashtrain.rtl.channel.read_buffer.page_sender import FreePages, PageSender
from flashtrain.rtl.channel.read_buffer.read_buffer import PageMemory, ReadBuffer
from flashtrain.rtl.channel.read_buffer.read_lookup import ReadLookup
from flashtrain.rtl.channel.write_buffer.page_sets import PageSets
from flashtrain.rtl.channel.write_buffer.program_results import ProgramResults
from flashtrain.rtl.channel.write_buffer.write_buffer import SetIdentities
from flashtrain.rtl.codec.decoder_lane import DecoderLane
from flashtrain.rtl.codec.encoder import Encoder
from flashtrain.rtl.codec.line_memory import LineMemory
from flashtrain.rtl.codec.page_verdict import PageVerdict
from flashtrain.rtl.datapath.read_pipeline import ReadSplitter
from flashtrain.rtl.datapath.read_return import ReadReturn, ReturnArbiter
from flashtrain.rtl.datapath.slice_writer import SliceWriter
from flashtrain.rtl.datapath.write_pipeline import WriteFetch
from flashtrain.rtl.datapath.write_splitter import WriteSplitter
from flashtrain.rtl.die.command.control import CommandControl
from flashtrain.rtl.die.command.sequencer import Sequencer
from flashtrain.rtl.die.registers.page_registers import PageRegisters
from flashtrain.rtl.die.update.tile_decoder import TileDecoder
from flashtrain.rtl.die.update.tile_encoder import TileEncoder
from flashtrain.rtl.die.update.updater import Updater
from flashtrain.rtl.die.update_unit import UpdateUnit
from flashtrain.rtl.host_if.command_tracker import CommandTracker
from flashtrain.rtl.host_if.completion import CompletionWriter
from flashtrain.rtl.host_if.counters import Counters
from flashtrain.rtl.host_if.decode import Decoder
from flashtrain.rtl.host_if.fetch import SubmissionFetch
from flashtrain.rtl.host_if.register_file import RegisterFile
from flashtrain.rtl.host_if.seconds import Seconds
from flashtrain.rtl.host_if.stopwatch import Stopwatch
from flashtrain.rtl.lib.axi_guard import AxiGuard
from flashtrain.rtl.lib.delay_line import DelayLine
from flashtrain.rtl.lib.gearbox import PageSerializer
from flashtrain.rtl.lib.streams import RegisterSlices, StreamMerge
from flashtrain.rtl.lib.timer import HoldTimer, Timer
from flashtrain.rtl.lib.write_mux import WriteMux
from flashtrain.rtl.zones.allocator import ZoneAllocator
from flashtrain.rtl.zones.erase_broadcast import EraseBroadcast
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.rtl.zones.report import ZoneReport
from flashtrain.sim.link.seams import observed_in_channel, observed_in_front_end
from flashtrain.sim.nand import pins_of_dies
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.sim.nand.sdr_bridge import SdrBridge
from flashtrain.sim.partition.options import Plan
from flashtrain.spec import FmsConfig

_CODEC = (Encoder, DecoderLane, LineMemory, DelayLine, PageVerdict, SliceWriter)
"""Line memories and delay lines change in every cycle: parts of their own keep no other logic awake."""


def front_end_plan(config: FmsConfig) -> Plan:
    return Plan(
        parts=(
            RegisterFile, SubmissionFetch, Decoder, CommandTracker, CompletionWriter, WriteMux, AxiGuard,
            StreamMerge, ZoneManager, ZoneAllocator, ZoneReport, EraseBroadcast, WriteSplitter, WriteFetch,
            ReadSplitter, ReadReturn, ReturnArbiter, Stopwatch, Counters, Seconds, RegisterSlices,
            *(_CODEC if config.codec else ()),
        ),
        restless=("stopwatch", "counters", "seconds"),
        # Channels do not read these.
        polled=("queue__*", "data__*", "registers__*", "irq"),
        observed=observed_in_front_end(config),
    )  # fmt: skip


def channel_plan(config: FmsConfig) -> Plan:
    # Without a code the identity is the page's last, and `ends` is `identified`.
    ends = ("ends",) if config.code else ()
    checked = {("checker", "dq_o"): ("we", "dqs_o"), ("checker", "dq_i"): ("reads_status",)}
    pins = pins_of_dies(config)
    control = (OperationControl, PinDriver, Turnaround)
    if config.chips.sca:
        control = (SplitControl, CommandPart, DataPart, PacketSender)
    # The part of `BusController` holds its beat counter and its data receiver.
    return Plan(
        parts=(
            PageSets, SetIdentities, ProgramResults, PageSerializer, ReadLookup, ReadBuffer, PageMemory,
            FreePages, PageSender, BusController, *control, BusArbiter, CycleSequencer, BlockTable,
            EraseBroadcast, DieAgent, HoldTimer, ChannelCounters, EventCounters, Timer,
            PinChecker if config.chips.ddr else SdrBridge,
        ),
        restless=("engine_counters",),
        prompt=(
            DieAgent, HoldTimer, SetIdentities, ProgramResults, ReadLookup, BusArbiter, CycleSequencer,
            *control, ReadBuffer, EventCounters,
        ),
        busy={Timer: "port__running"},
        silent=("cycle",),
        # The front end does not read these.
        polled=("counter_value", "violations"),
        reports={"pins": tuple(f"nand__{name}" for name in (*pins.shared, pins.enable))},
        guards={
            ("engine_read_buffer_sender", "pages__payload"): ("pages__valid",),
            ("engine_read_buffer_page_memory", "identity"): ("identified", *ends),
            **(checked if config.chips.ddr and not config.chips.sca else {}),
        },
        observed=observed_in_channel(config),
    )  # fmt: skip


def die_plan(config: FmsConfig) -> Plan:
    updates = config.chips.update
    of_tiles = {
        ("logic_registers", "tile__result"): ("tile__write",),
        ("logic_registers", "identities__content"): ("identities__write",),
    }
    return Plan(
        parts=(
            CommandControl, Sequencer, Timer, PageRegisters,
            *((Updater, UpdateUnit) if updates else ()),
            *((TileDecoder, TileEncoder) if updates and config.code else ()),
        ),
        prompt=(Sequencer, CommandControl),
        busy={Timer: "port__running"},
        silent=("cycle",),
        polled=("violations",),
        reports={"wake": ("wake",)},
        enables=(PageRegisters,),
        guards={
            ("logic_control", "dq_o"): ("we",),
            ("logic_registers", "lane"): ("put", "ask"),
            ("logic_registers", "lane_in"): ("put",),
            ("logic_registers", "words__to_register"): ("words__put",),
            **(of_tiles if updates else {}),
        },
    )  # fmt: skip


def plans_of(config: FmsConfig) -> dict[str, Plan]:
    return {"frontend": front_end_plan(config), "channel": channel_plan(config), "die": die_plan(config)}
