"""The device whose command ports the benches use: `tiny` with two dies on each channel."""

from dataclasses import replace

from flashtrain.spec.presets import TINY

CONFIG = replace(
    TINY, name="tiny_port", geometry=replace(TINY.geometry, dies=2), read_queue=4, command_port=True
)
