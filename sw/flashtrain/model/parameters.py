"""The numbers that the kernel models a device from: its configuration, and stages measured on the RTL."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.reading import read_toml
from flashtrain.spec import Chips, FmsConfig
from flashtrain.spec.codec import SLICE_BYTES, slices_per_cycle
from flashtrain.spec.ecc import LANE_BYTES
from flashtrain.spec.errors import require
from flashtrain.spec.nand import SEQUENCES, BusOp
from flashtrain.spec.update_time import TileWork, compute_cycles

STAGES = Path(__file__).with_name("stages.toml")

_TIMINGS = (
    "twc", "tadl", "twhr", "trhw", "tchz", "twb", "tdbsy", "tcbsy", "tr", "tprog", "tbers", "tsusp",
    "tres", "tadv", "trst",
)  # fmt: skip
_POLL_NS = {"poll_program": 1_000, "poll_erase": 20_000, "poll_sense": 500}
"""From a poll that finds the die busy to the next (`flashtrain.rtl.channel.die_agent.ready_poller`)."""

READY_LINE = 3
"""From RDY of a die to the poll that R/B# allows: two registers of a synchroniser, and the poller's state."""

DATA_SHEETS = {
    "read_issue": 3,  # the queue of jobs, and `ReadSplitter`: from a job to its first page
    "fetch_page": 1,  # `WriteFetch`: from a page to its burst
    "track": 3,  # `CommandTracker`: from the last event to the answer
    "answer": 3,  # `StreamMerge` of answers, `CompletionWriter`, `WriteMux`: from an answer to its burst
    "return_head": 10,  # head slice, `PageCheck` and `ReadReturn`: from a head to its first beat
    "return_page": 7,  # the same of a page that does not come from an array
    "response": 0,  # the tensor buffer answers when its latency is over
    "status_answer": 4,  # `BusController`: from tWHR to the end of a status operation
    "data_in_start": 5,  # from an operation's grant to its first beat to a die
    "data_out_start": 5,  # from the last beat from a die to the end of the operation, grant and pins included
    "next_fill": 8,  # `ReadBuffer`: from a page's last beat to the choice of the next page
    "erase_start": 2,  # `ZoneAllocator`, `EraseBroadcast`: from the choice of a zone to the channels
    "fill_blocks": 85,  # `BlockTable`: besides a cycle per block
    "judge_page": 3,  # `PageReceiver`: from the verdict on a coded page to its head
    "tile": 196,  # `UpdateUnit.latency` of Adam, the longest, and the sequencer; in the unit's own clock
}
"""Stages that data sheets of RTL units state, or that follow from their structure."""

_LANES_OF_ONES = 2
"""Cycles that a code word takes besides its lanes (`flashtrain.rtl.die.update.code_lanes`)."""

_RUNS = {"read_run": 4, "program_run": 1, "update_run": 4}
"""Operations of a unit in a row while another wants the die (`flashtrain.rtl.channel.die_agent`)."""


class MeasuredOn(NamedTuple):
    """The commit that stages were measured at, and the key of the RTL's sources then."""

    commit: str
    rtl: str


def measured_on() -> MeasuredOn:
    content = read_toml(STAGES)
    return MeasuredOn(content["commit"], content["rtl"])


@cache
def stages() -> dict[str, int]:
    """Cycles of each measured stage."""
    return read_toml(STAGES)["stages"]


def parameters(config: FmsConfig, memory_latency: int, lanes: int = 1) -> dict[str, int]:
    """Each scalar of the kernel by its name (`parameters.h`); a channel of the kernel stands for `lanes`."""
    g, t = config.geometry, config.timing
    require(replace(config.chips, sca=False, ready_busy=False) == Chips(), "chips", config.chips,
            "NV-DDR3, all commands, one LUN of a chip enable and no shared R/B#, for this model")  # fmt: skip
    require(config.part_bytes == 0, "config.part_bytes", config.part_bytes,
            "0 for this model, whose reads are of whole pages")  # fmt: skip
    return {
        "channels": g.channels // lanes,
        "lanes": lanes,
        "dies": g.dies,
        "planes": g.planes,
        "zones": g.zones,
        "blocks": g.blocks,
        "write_sets": config.write_sets,
        "read_pages": config.read_pages,
        "read_queue": config.read_queue,
        "commands": config.commands,
        "corrected_at_once": 0 if config.code is None else 2,
        "page_beats": config.page_beats,
        "bus_beats": config.bus_page_bytes // 2,
        "loaded_beats": config.loaded_page_bytes // 2,
        "decoder_lanes": max(1, config.data_bytes // SLICE_BYTES),
        "slice_beats": max(1, SLICE_BYTES // config.data_bytes),
        **_encoder(config),
        **{name: t.cycles(name) for name in _TIMINGS},
        **_bus_of_commands(config),
        "column_change": config.column_change_cycles,
        "ready_line": READY_LINE if config.chips.ready_busy else 0,
        **{name: round(ns * t.clock_mhz / 1000) for name, ns in _POLL_NS.items()},
        **_RUNS,
        "gather": g.channels + 4,
        "memory_latency": memory_latency,
        **DATA_SHEETS,
        **stages(),
        **(_with_codec(config) if config.codec else {}),
    }


def _encoder(config: FmsConfig) -> dict[str, int]:
    """Groups and lines of the encoder (`flashtrain.rtl.codec.layouts`)."""
    slices = slices_per_cycle(config.data_bytes)
    beats = slices * SLICE_BYTES // config.data_bytes
    return {
        "group_slices": slices,
        "group_beats": beats,
        "beat_register": int(beats > 1),  # `GroupCollector`
        "line_beats": max(2, slices) * SLICE_BYTES // config.data_bytes,
    }


def _bus_of_commands(config: FmsConfig) -> dict[str, int]:
    """With SCA a packet takes the place of a command or address cycle."""
    if not config.chips.sca:
        return {"sca": 0, "burst_gap": 0, "status_byte": 0, "status_lead": 0}
    cycles = config.timing.cycles
    return {
        "twc": cycles("tca"),
        "sca": 1,
        "burst_gap": config.timing.burst_gap,
        "status_byte": cycles("tcas"),
        "status_lead": config.status_lead,
    }


def checksum_cycles(config: FmsConfig) -> int:
    """The latency of `PageChecksum`: two cycles, and one for each sum of 36 terms."""
    return 3 if config.data_bytes <= 4 else 4


def _with_codec(config: FmsConfig) -> dict[str, int]:
    """Stages that are longer in a configuration with a codec."""
    checksum = checksum_cycles(config)
    return {
        "judge_page": DATA_SHEETS["judge_page"] + checksum,  # `PageVerdict`: from a page's last beat
        "output_page": stages()["output_page"] + checksum,  # `PageSender`
        "return_page": DATA_SHEETS["return_page"] + 1,  # `PageCheck`: the job of a page is looked up
        "returned": stages()["returned"] + 1,  # `ReadPipeline`: a merge with the decoder lanes
    }


def operation_cycles(config: FmsConfig) -> NDArray[np.int32]:
    """Command and address cycles of each bus operation ahead of its data, or packets of SCA, int32[64]."""
    cycles = np.zeros(64, np.int32)
    for op, sequence in SEQUENCES.items():
        cycles[op] = sequence.cycles
    cycles[BusOp.DATA_OUT] = 0
    cycles[BusOp.PROGRAM_PAGE] += config.chips.sca  # 12h ends the address
    return cycles


def predicted_cycles(config: FmsConfig) -> NDArray[np.int32]:
    """Cycles that the controller predicts for the update unit, int32[17], by pages of gradients."""
    predicted = np.zeros(17, np.int32)
    cycles = compute_cycles(config)
    predicted[1 : 1 + len(cycles)] = cycles
    return predicted


def tile_cycles(config: FmsConfig, work: TileWork) -> int:
    """Cycles from the end of a tile's sense until all is written.

    The update unit or the tile sequencer takes the most for a parameter (`TileWork.sequencer_cycles`). With a
    code the words in which the arrays begin are decoded first, and those in which they end are encoded
    last (`flashtrain.rtl.die.update.tile_code`).
    """
    of_parameter = max(config.update_interval * config.update_divider, work.sequencer_cycles)
    cycles = work.parameters * of_parameter + DATA_SHEETS["tile"] * config.update_divider
    if config.code is None:
        return cycles
    lanes = (config.code.last_bytes + config.code.parity_bytes) // LANE_BYTES + _LANES_OF_ONES
    return cycles + work.tile.arrays * (2 * lanes + 1)
