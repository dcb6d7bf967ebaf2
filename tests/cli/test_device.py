"""The tensor buffer of the command's devices."""

from flashtrain.cli.device import memory_bytes
from flashtrain.spec import PRESETS


def test_the_tensor_buffer_holds_several_commands_of_every_preset():
    sizes = {name: memory_bytes(config) >> 20 for name, config in PRESETS.items()}
    of_large = {name: 1024 for name in sizes if name.startswith(("behemoth", "optimstore", "g9_"))}
    assert sizes == dict.fromkeys(sizes, 64) | of_large
    for config in PRESETS.values():
        assert memory_bytes(config) >= 16 * config.max_blocks * config.geometry.page_bytes
