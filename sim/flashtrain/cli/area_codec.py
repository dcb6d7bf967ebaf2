"""`flashtrain area codec`: encoder and decoder lane of coded pages in an FPGA, beside a channel engine."""

import argparse
from functools import partial

from flashtrain.spec import preset
from flashtrain.spec.codec import SLICE_BYTES

from .area_controller import config as engine_config
from .area_parts import Measured, Part, measure, resources
from .console import Console

PRESET = "behemoth"
"""Its port has 128 bytes."""
ALLOWED_LUT6 = 8_000
"""A lane may take, and the encoder for each of its slices per cycle."""

ENGINE = "channel_4"
"""A lane is to reach its clock, with the same seed."""


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.channel.engine import ChannelEngine
    from flashtrain.rtl.codec.decoder_lane import DecoderLane
    from flashtrain.rtl.codec.encoder import Encoder
    from flashtrain.rtl.codec.page_verdict import PageVerdict

    config = preset(PRESET)
    lanes = config.data_bytes // SLICE_BYTES
    return [
        Part("codec_verdict", "check of pages, shared by the lanes", partial(PageVerdict, config, lanes)),
        Part("codec_lane", "decoder lane", partial(DecoderLane, config)),
        Part("codec_encoder", "encoder", partial(Encoder, config), large=True),
        Part(ENGINE, "channel engine, 4 dies", partial(ChannelEngine, engine_config(4, 4))),
    ]


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.rtl.codec.layouts import GROUP_SLICES
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=options.clock)
    measured = measure(parts(), options.clock, console)
    config = preset(PRESET)
    console.say(
        f"{PRESET}: pages of {config.geometry.page_bytes:,} bytes, a port of {config.data_bytes} bytes; "
        f"the encoder takes {GROUP_SLICES} slices per cycle, a lane gives one"
    )
    console.say(resources(measured.values()))
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "parts": {key: one.document() for key, one in measured.items()},
            "allowed_lut6": {"codec_lane": ALLOWED_LUT6, "codec_encoder": GROUP_SLICES * ALLOWED_LUT6},
            "tools": tools,
        }
    )
    lane = measured["codec_lane"]
    return int(
        lane.all_lut6 >= ALLOWED_LUT6
        or measured["codec_encoder"].all_lut6 >= GROUP_SLICES * ALLOWED_LUT6
        or _slower(lane, measured[ENGINE])
    )


def _slower(lane: Measured, engine: Measured) -> bool:
    """Both were placed, and the lane misses the clock of the engine."""
    if lane.clock_mhz is None or engine.clock_mhz is None:
        return False
    return lane.clock_mhz < engine.clock_mhz
