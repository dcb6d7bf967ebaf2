"""Configurations that make no sense: each is refused, naming field, value and what was expected."""

from dataclasses import replace

import pytest

from flashtrain.spec import PRESETS, ConfigError, FlashtrainError, Geometry
from flashtrain.spec.timing import ns

SMALL = PRESETS["small"]

POWER = "expected a power of two from 1 to"
RANGE = "expected an integer from"

BAD_GEOMETRIES = [
    ({"channels": 3}, f"geometry.channels is 3; {POWER} 64"),
    ({"channels": 128}, f"geometry.channels is 128; {POWER} 64"),
    ({"channels": 0}, f"geometry.channels is 0; {POWER} 64"),
    ({"channels": 4.0}, f"geometry.channels is 4.0; {POWER} 64"),
    ({"channels": "4"}, f"geometry.channels is '4'; {POWER} 64"),
    ({"dies": 3}, f"geometry.dies is 3; {POWER} 8"),
    ({"dies": 16}, f"geometry.dies is 16; {POWER} 8"),
    ({"planes": 32}, f"geometry.planes is 32; {POWER} 16"),
    ({"page_bytes": 4000}, f"geometry.page_bytes is 4000; {POWER} 16384"),
    ({"page_bytes": 256}, f"geometry.page_bytes is 256; {RANGE} 512 to 16384"),
    ({"page_bytes": 32768}, f"geometry.page_bytes is 32768; {POWER} 16384"),
    ({"blocks": 1}, f"geometry.blocks is 1; {RANGE} 2 to 4096"),
    ({"blocks": 4097}, f"geometry.blocks is 4097; {RANGE} 2 to 4096"),
    ({"pages": 1}, f"geometry.pages is 1; {RANGE} 2 to 4096"),
    ({"pages": 5000}, f"geometry.pages is 5000; {RANGE} 2 to 4096"),
    ({"spare_blocks": -1}, f"geometry.spare_blocks is -1; {RANGE} 0 to 30"),
    ({"spare_blocks": 31}, f"geometry.spare_blocks is 31; {RANGE} 0 to 30"),
    ({"blocks": 700, "spare_blocks": 256}, f"geometry.spare_blocks is 256; {RANGE} 0 to 255"),
    ({"spare_bytes": 16}, f"geometry.spare_bytes is 16; {RANGE} 32 to 4096"),
]


@pytest.mark.parametrize(("change", "message"), BAD_GEOMETRIES)
def test_geometry(change, message):
    with pytest.raises(ConfigError) as caught:
        replace(SMALL.geometry, **change)
    assert str(caught.value) == message


BAD_CONFIGS = [
    ({"write_sets": 1}, f"config.write_sets is 1; {RANGE} 2 to 16"),
    ({"write_sets": 17}, f"config.write_sets is 17; {RANGE} 2 to 16"),
    ({"read_pages": 1}, f"config.read_pages is 1; {RANGE} 2 to 64"),
    ({"read_pages": 6}, f"config.read_pages is 6; {POWER} 64"),
    ({"read_queue": 4}, f"config.read_queue is 4; {RANGE} 8 to 256"),
    ({"read_queue": 12}, f"config.read_queue is 12; {POWER} 256"),
    ({"commands": 2}, f"config.commands is 2; {RANGE} 4 to 256"),
    ({"commands": 100}, f"config.commands is 100; {POWER} 256"),
    ({"max_blocks": 0}, f"config.max_blocks is 0; {RANGE} 1 to 2048"),
    ({"max_blocks": 2049}, f"config.max_blocks is 2049; {RANGE} 1 to 2048"),
    ({"max_open": 0}, f"config.max_open is 0; {RANGE} 1 to 255"),
    ({"max_open": 13}, f"config.max_active is 12; {RANGE} 13 to 255"),
    ({"max_active": 256}, f"config.max_active is 256; {RANGE} 8 to 255"),
    ({"address_bits": 19}, f"config.address_bits is 19; {RANGE} 20 to 48"),
    ({"address_bits": 49}, f"config.address_bits is 49; {RANGE} 20 to 48"),
    ({"die_word_bytes": 24}, f"config.die_word_bytes is 24; {POWER} 64"),
    ({"update_interval": 0}, f"config.update_interval is 0; {RANGE} 1 to 64"),
    ({"update_interval": 65}, f"config.update_interval is 65; {RANGE} 1 to 64"),
    ({"update_divider": 0}, f"config.update_divider is 0; {RANGE} 2 to 16"),
    ({"update_divider": 17}, f"config.update_divider is 17; {RANGE} 2 to 16"),
    ({"late_polls": 3}, f"config.late_polls is 3; {RANGE} 4 to 65535"),
    ({"late_polls": 65536}, f"config.late_polls is 65536; {RANGE} 4 to 65535"),
    ({"die_word_bytes": 64}, "config.die_word_bytes is 64; expected a divisor of a page's 4320 bytes"),
]


@pytest.mark.parametrize(("change", "message"), BAD_CONFIGS)
def test_config(change, message):
    with pytest.raises(ConfigError) as caught:
        replace(SMALL, **change)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["tr", "tprog"])
def test_array_times_leave_time_to_move_the_registers(name):
    # Four planes of 4320 bytes are 540 words of 32 bytes; 600 MHz.
    replace(SMALL, timing=replace(SMALL.timing, **{name: ns(548 / 0.6)}))
    with pytest.raises(ConfigError) as caught:
        replace(SMALL, timing=replace(SMALL.timing, **{name: ns(547 / 0.6)}))
    assert str(caught.value).startswith(f"timing.{name} is Duration(")
    assert str(caught.value).endswith("; expected at least 548 clocks to move 540 register words")


def test_a_row_address_has_24_bits():
    geometry = Geometry(channels=2, dies=1, planes=4, blocks=2048, pages=2048)
    replace(SMALL, geometry=geometry)
    with pytest.raises(ConfigError, match="a row address of 24 bits at most"):
        replace(SMALL, geometry=replace(geometry, blocks=2049))


def test_errors_are_of_our_own_kind():
    assert issubclass(ConfigError, FlashtrainError)
    assert issubclass(ConfigError, ValueError)
