"""Configurations that make no sense: each is refused, naming field, value and what was expected."""

from dataclasses import replace

import pytest

from flashtrain.spec import PRESETS, Chips, ConfigError, FlashtrainError, Geometry
from flashtrain.spec.pcie import TlpSizes
from flashtrain.spec.timing import ns

SMALL = PRESETS["small"]

POWER = "expected a power of two from"
RANGE = "expected an integer from"

BAD_GEOMETRIES = [
    ({"channels": 3}, f"geometry.channels is 3; {POWER} 1 to 64"),
    ({"channels": 128}, f"geometry.channels is 128; {POWER} 1 to 64"),
    ({"channels": 0}, f"geometry.channels is 0; {POWER} 1 to 64"),
    ({"channels": 4.0}, f"geometry.channels is 4.0; {POWER} 1 to 64"),
    ({"channels": "4"}, f"geometry.channels is '4'; {POWER} 1 to 64"),
    ({"dies": 3}, f"geometry.dies is 3; {POWER} 1 to 8"),
    ({"dies": 16}, f"geometry.dies is 16; {POWER} 1 to 8"),
    ({"planes": 32}, f"geometry.planes is 32; {POWER} 1 to 16"),
    ({"page_bytes": 4000}, f"geometry.page_bytes is 4000; {POWER} 512 to 16384"),
    ({"page_bytes": 256}, f"geometry.page_bytes is 256; {POWER} 512 to 16384"),
    ({"page_bytes": 32768}, f"geometry.page_bytes is 32768; {POWER} 512 to 16384"),
    ({"blocks": 1}, f"geometry.blocks is 1; {RANGE} 2 to 4096"),
    ({"blocks": 4097}, f"geometry.blocks is 4097; {RANGE} 2 to 4096"),
    ({"pages": 1}, f"geometry.pages is 1; {RANGE} 2 to 4096"),
    ({"pages": 5000}, f"geometry.pages is 5000; {RANGE} 2 to 4096"),
    ({"spare_blocks": -1}, f"geometry.spare_blocks is -1; {RANGE} 0 to 255"),
    ({"spare_blocks": 31}, f"geometry.spare_blocks is 31; {RANGE} 0 to 30"),
    ({"blocks": True}, f"geometry.blocks is True; {RANGE} 2 to 4096"),
    ({"blocks": 700, "spare_blocks": 256}, f"geometry.spare_blocks is 256; {RANGE} 0 to 255"),
    ({"spare_bytes": 16}, f"geometry.spare_bytes is 16; {RANGE} 32 to 4096"),
]


@pytest.mark.parametrize(("change", "message"), BAD_GEOMETRIES)
def test_geometry(change, message):
    with pytest.raises(ConfigError) as caught:
        replace(SMALL.geometry, **change)
    assert str(caught.value) == message


SDR_TIMES = {
    "tadl": ns(400), "twhr": ns(120), "trhw": ns(200), "tchz": ns(100), "tccs": ns(500), "twb": ns(200),
    "trr": ns(40),
}  # fmt: skip
"""Those of mode 0, the least that the interface allows."""

BAD_CONFIGS = [
    ({"write_sets": 1}, f"config.write_sets is 1; {RANGE} 2 to 16"),
    ({"write_sets": 17}, f"config.write_sets is 17; {RANGE} 2 to 16"),
    ({"read_pages": 1}, f"config.read_pages is 1; {POWER} 2 to 64"),
    ({"read_pages": 6}, f"config.read_pages is 6; {POWER} 2 to 64"),
    ({"read_queue": 4}, f"config.read_queue is 4; {RANGE} 8 to 256"),
    ({"read_queue": 12}, f"config.read_queue is 12; {POWER} 2 to 256"),
    ({"commands": 2}, f"config.commands is 2; {POWER} 4 to 1024"),
    ({"commands": 100}, f"config.commands is 100; {POWER} 4 to 1024"),
    ({"max_blocks": 0}, f"config.max_blocks is 0; {RANGE} 1 to 65535"),
    ({"max_blocks": 2049}, f"config.max_blocks is 2049; {RANGE} 1 to 2048"),
    ({"max_open": 0}, f"config.max_open is 0; {RANGE} 1 to 255"),
    ({"max_open": 13}, f"config.max_active is 12; {RANGE} 13 to 255"),
    ({"max_active": 256}, f"config.max_active is 256; {RANGE} 1 to 255"),
    ({"part_bytes": 256}, f"config.part_bytes is 256; {POWER} 512 to 4096"),
    ({"part_bytes": 1000}, f"config.part_bytes is 1000; {POWER} 512 to 4096"),
    ({"part_bytes": 4096}, "config.part_bytes is 4096; expected at most half a page, 2048"),
    (
        {"part_bytes": 512, "code_strength": 13},
        "config.code_strength is 13; expected 0 with part_bytes: parity is behind the whole page",
    ),
    (
        {"part_bytes": 512, "randomizer": True},
        "config.randomizer is True; expected false with part_bytes: a key begins with its page",
    ),
    (
        {"part_bytes": 512, "codec": True},
        "config.codec is True; expected false with part_bytes: an encoded page is decoded whole",
    ),
    (
        {
            "part_bytes": 512,
            "chips": Chips(sdr=True, ddr=False, suspended_read=False, update=False),
            "timing": replace(SMALL.timing, **SDR_TIMES),
        },
        "chips.sdr is True; expected false with part_bytes",
    ),
    (
        {"part_bytes": 512, "chips": Chips(luns=2, suspended_read=False, update=False)},
        "chips.luns is 2; expected 1 with part_bytes",
    ),
    ({"address_bits": 19}, f"config.address_bits is 19; {RANGE} 20 to 48"),
    ({"address_bits": 49}, f"config.address_bits is 49; {RANGE} 20 to 48"),
    ({"die_word_bytes": 24}, f"config.die_word_bytes is 24; {POWER} 8 to 64"),
    ({"die_word_bytes": 4}, f"config.die_word_bytes is 4; {POWER} 8 to 64"),
    ({"code_strength": 65}, f"config.code_strength is 65; {RANGE} 0 to 64"),
    ({"code_strength": 40}, "config.code_strength is 40; expected parity that fits 208 spare bytes, not 288"),
    ({"read_levels": 1}, f"config.read_levels is 1; {RANGE} 0 to 0"),
    ({"randomizer": 1}, "config.randomizer is 1; expected true or false"),
    (
        {"name": "../small"},
        "config.name is '../small'; expected letters, digits, '_', '-' and '.', a letter or digit first",
    ),
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
    assert str(caught.value).startswith(f"timing.{name} is 911.6")
    assert str(caught.value).endswith(
        "; expected at least 913.3 ns, 548 cycles of 600 MHz, to move 540 register words"
    )


@pytest.mark.parametrize("name", ["trr", "tccs", "twhr"])
def test_a_die_looks_up_its_registers(name):
    replace(SMALL, timing=replace(SMALL.timing, **{name: ns(80, cycles=6)}))
    short = replace(SMALL.timing, clock_mhz=60, **{name: ns(80)})  # 80 ns are 5 cycles
    rest = {other: ns(80, cycles=6) for other in ("trr", "tccs", "twhr") if other != name}
    long = {array: ns(20_000) for array in ("tr", "tadv")}
    with pytest.raises(ConfigError) as caught:
        replace(SMALL, timing=replace(short, **rest, **long))
    assert str(caught.value).startswith(f"timing.{name} is 80 ns;")
    assert str(caught.value).endswith(
        "; expected at least 100.0 ns, 6 cycles of 60 MHz, to look up a register word"
    )


def test_a_turnaround_ends_before_the_next_status():
    replace(SMALL, timing=replace(SMALL.timing, trhw=ns(105)))
    with pytest.raises(ConfigError, match=r"timing.trhw is .*; expected at most twc and twhr together"):
        replace(SMALL, timing=replace(SMALL.timing, trhw=ns(106)))


def test_a_row_address_has_24_bits():
    geometry = Geometry(channels=2, dies=1, planes=4, blocks=2048, pages=2048)
    with pytest.raises(ConfigError) as caught:
        replace(geometry, blocks=2049)
    assert str(caught.value) == (
        "geometry.blocks is 2049; expected at most 2048: page and plane take 13 bits of a row address of 24"
    )


def test_an_lba_has_32_bits():
    geometry = Geometry(channels=64, dies=8, planes=4, blocks=2049, pages=1024, spare_blocks=1)
    with pytest.raises(ConfigError) as caught:
        replace(geometry, spare_blocks=0)
    assert str(caught.value) == (
        "geometry.blocks is 2049; expected at most 2048 beside the spare blocks: "
        "a zone takes 21 bits of an LBA of 32"
    )


def test_errors_are_of_our_own_kind():
    assert issubclass(ConfigError, FlashtrainError)
    assert issubclass(ConfigError, ValueError)


BAD_TLP_SIZES = [
    ({"port_bytes": 4}, "port_bytes is 4; expected a power of two from 8 to 128"),
    ({"port_bytes": 48}, "port_bytes is 48; expected a power of two from 8 to 128"),
    ({"port_bytes": 256}, "port_bytes is 256; expected a power of two from 8 to 128"),
    ({"tags": 1}, f"tags is 1; {RANGE} 2 to 256"),
    ({"tags": 257}, f"tags is 257; {RANGE} 2 to 256"),
]


@pytest.mark.parametrize(("change", "message"), BAD_TLP_SIZES)
def test_the_port_of_requests(change, message):
    with pytest.raises(ConfigError) as caught:
        TlpSizes(**change)
    assert str(caught.value) == message


def test_the_port_of_requests_is_as_wide_as_that_of_data():
    expected = {"tiny": (8, 16), "small": (8, 16), "g9_drive": (32, 16), "behemoth": (128, 64)}
    found = {name: TlpSizes.of(PRESETS[name]) for name in expected}
    assert {name: (one.port_bytes, one.tags) for name, one in found.items()} == expected
