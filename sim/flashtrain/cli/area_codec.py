"""`flashtrain area codec`: encoder and decoder lane of coded pages in an FPGA, beside a channel engine."""

import argparse
from functools import partial

from flashtrain.spec import preset
from flashtrain.spec.codec import SLICE_BYTES, slices_per_cycle

from .area_controller import config as engine_config
from .area_parts import Measured, Part, measure, resources
from .console import Console

PRESET = "behemoth"
"""Its port has 128 bytes."""
NARROW_PRESET = "small"
"""Its port has 8 bytes."""
ALLOWED_LUT6 = 8_000
"""A lane may take, and the encoder for each of its slices per cycle."""
NARROW_ALLOWED_LUT6 = 10_000
"""The encoder of one slice may take: what is not for each slice weighs more."""

SEEDS = 4
ENGINE = "channel_4"
"""A lane and the encoder of one slice are to reach its clock, the mean of the seeds."""


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.channel.engine import ChannelEngine
    from flashtrain.rtl.codec.decoder_lane import DecoderLane
    from flashtrain.rtl.codec.encoder import Encoder
    from flashtrain.rtl.codec.page_verdict import PageVerdict

    config = preset(PRESET)
    narrow, lanes = preset(NARROW_PRESET), config.data_bytes // SLICE_BYTES
    return [
        Part("codec_verdict", "check of pages, shared by the lanes", partial(PageVerdict, config, lanes)),
        Part("codec_lane", "decoder lane", partial(DecoderLane, config)),
        Part("codec_encoder", "encoder", partial(Encoder, config), static=True, routed=False),
        Part("codec_encoder_narrow", "encoder of one slice", partial(Encoder, narrow), SEEDS, static=True),
        Part(ENGINE, "channel engine, 4 dies", partial(ChannelEngine, engine_config(4, 4)), SEEDS),
    ]


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=options.clock)
    measured = measure(parts(), options.clock, console)
    for name in (PRESET, NARROW_PRESET):
        config = preset(name)
        console.say(
            f"{name}: pages of {config.geometry.page_bytes:,} bytes, a port of {config.data_bytes} bytes; "
            f"slices per cycle of the encoder: {slices_per_cycle(config.data_bytes)}"
        )
    console.say(resources(measured.values()))
    console.say("by " + ", ".join(tools.values()))
    allowed = {
        "codec_lane": ALLOWED_LUT6,
        "codec_encoder": slices_per_cycle(preset(PRESET).data_bytes) * ALLOWED_LUT6,
        "codec_encoder_narrow": NARROW_ALLOWED_LUT6,
    }
    console.document(
        {
            "parts": {key: one.document() for key, one in measured.items()},
            "allowed_lut6": allowed,
            "tools": tools,
        }
    )
    return int(
        any(measured[key].all_lut6 >= most for key, most in allowed.items())
        or any(_slower(measured[key], measured[ENGINE]) for key in ("codec_lane", "codec_encoder_narrow"))
    )


def _slower(one: Measured, engine: Measured) -> bool:
    """Both were placed, and the one misses the clock of the engine."""
    if one.clock_mhz is None or engine.clock_mhz is None:
        return False
    return one.clock_mhz < engine.clock_mhz
