"""The presets and every number that is derived from them."""

from dataclasses import replace
from functools import cached_property

import pytest

from flashtrain.spec import PRESETS, Chips, ConfigError, Geometry, preset
from flashtrain.spec.timing import NandTiming


def numbers(thing) -> dict[str, object]:
    """All fields and properties whose values are plain; a geometry keeps what was asked once."""
    kind = cached_property if isinstance(thing, Geometry) else property
    names = [
        *thing.__dataclass_fields__,
        *(n for n, v in vars(type(thing)).items() if isinstance(v, kind)),
    ]
    plain = {name: getattr(thing, name) for name in names}
    return {
        name: value for name, value in plain.items() if not isinstance(value, (Geometry, NandTiming, Chips))
    }


GEOMETRIES = {
    "tiny": dict(
        channels=2, dies=1, planes=2, blocks=16, pages=6, page_bytes=512, spare_bytes=32,
        channel_bits=1, die_bits=0, plane_bits=1, page_bits=3, block_bits=4,
        zones=16, zone_bits=4, zone_size_bits=5, zone_size=32, zone_capacity=24, superpage=4,
        page_set_bytes=1024, identified_page_bytes=528, raw_page_bytes=544, capacity_bytes=196_608,
    ),
    "small": dict(
        channels=4, dies=2, planes=4, blocks=32, pages=64, page_bytes=4096, spare_bytes=224,
        channel_bits=2, die_bits=1, plane_bits=2, page_bits=6, block_bits=5,
        zones=32, zone_bits=5, zone_size_bits=11, zone_size=2048, zone_capacity=2048, superpage=32,
        page_set_bytes=16_384, identified_page_bytes=4112, raw_page_bytes=4320, capacity_bytes=268_435_456,
    ),
    "behemoth": dict(
        channels=64, dies=2, planes=8, blocks=683, pages=768, page_bytes=4096, spare_bytes=224,
        channel_bits=6, die_bits=1, plane_bits=3, page_bits=10, block_bits=10,
        zones=683, zone_bits=10, zone_size_bits=20, zone_size=1_048_576, zone_capacity=786_432,
        superpage=1024,
        page_set_bytes=32_768, identified_page_bytes=4112, raw_page_bytes=4320,
        capacity_bytes=2_200_096_997_376,
    ),
    "behemoth_wide": dict(
        channels=64, dies=4, planes=8, blocks=683, pages=768, page_bytes=4096, spare_bytes=224,
        channel_bits=6, die_bits=2, plane_bits=3, page_bits=10, block_bits=10,
        zones=683, zone_bits=10, zone_size_bits=21, zone_size=2_097_152, zone_capacity=1_572_864,
        superpage=2048, page_set_bytes=32_768, identified_page_bytes=4112, raw_page_bytes=4320,
        capacity_bytes=4_400_193_994_752,
    ),
    "optimstore": dict(
        channels=8, dies=4, planes=4, blocks=504, pages=768, page_bytes=16384, spare_bytes=2208,
        channel_bits=3, die_bits=2, plane_bits=2, page_bits=10, block_bits=9,
        zones=504, zone_bits=9, zone_size_bits=17, zone_size=131_072, zone_capacity=98_304, superpage=128,
        page_set_bytes=65_536, identified_page_bytes=16_400, raw_page_bytes=18_592,
        capacity_bytes=811_748_818_944,
    ),
    "g9_slc": dict(
        channels=64, dies=8, planes=4, blocks=504, pages=768, page_bytes=16384, spare_bytes=2208,
        channel_bits=6, die_bits=3, plane_bits=2, page_bits=10, block_bits=9,
        zones=504, zone_bits=9, zone_size_bits=21, zone_size=2_097_152, zone_capacity=1_572_864,
        superpage=2048, page_set_bytes=65_536, identified_page_bytes=16_400, raw_page_bytes=18_592,
        capacity_bytes=12_987_981_103_104,
    ),
}  # fmt: skip

GEOMETRIES["g9_drive"] = GEOMETRIES["g9_slc"] | dict(
    channels=16, channel_bits=4, zone_size_bits=19, zone_size=524_288, zone_capacity=393_216, superpage=512,
    capacity_bytes=3_246_995_275_776,
)  # fmt: skip

for _geometry in GEOMETRIES.values():
    _geometry |= dict(spare_blocks=0, spares=range(_geometry["blocks"], _geometry["blocks"]))

CONFIGS = {
    "tiny": dict(
        name="tiny", write_sets=3, read_pages=2, read_queue=4, commands=8, max_blocks=16, max_open=2,
        max_active=3, address_bits=36, die_word_bytes=32, data_bytes=4, page_beats=128, page_shift=9,
        buffer_block_bits=27, tag_bits=3, count_bits=5, lba_bits=9,
        update_interval=5, update_divider=4, late_polls=1024, code_strength=0, read_levels=0, level_bits=0,
        randomizer=False, codec=False, bus_page_bytes=528, loaded_page_bytes=536,
    ),
    "small": dict(
        name="small", write_sets=4, read_pages=4, read_queue=16, commands=64, max_blocks=1024, max_open=8,
        max_active=12, address_bits=36, die_word_bytes=32, data_bytes=8, page_beats=512, page_shift=12,
        buffer_block_bits=24, tag_bits=6, count_bits=11, lba_bits=16,
        update_interval=3, update_divider=4, late_polls=1024, code_strength=0, read_levels=0, level_bits=0,
        randomizer=False, codec=False, bus_page_bytes=4112, loaded_page_bytes=4120,
    ),
    "behemoth": dict(
        name="behemoth", write_sets=4, read_pages=8, read_queue=32, commands=1024, max_blocks=16384,
        max_open=8, max_active=12, address_bits=36, die_word_bytes=32, data_bytes=128, page_beats=32,
        page_shift=12, buffer_block_bits=24, tag_bits=10, count_bits=15, lba_bits=30,
        update_interval=2, update_divider=4, late_polls=1024, code_strength=0, read_levels=0, level_bits=0,
        randomizer=False, codec=False, bus_page_bytes=4112, loaded_page_bytes=4120,
    ),
    "behemoth_wide": dict(
        name="behemoth_wide", write_sets=8, read_pages=8, read_queue=32, commands=1024, max_blocks=16384,
        max_open=8, max_active=12, address_bits=36, die_word_bytes=32, data_bytes=128, page_beats=32,
        page_shift=12, buffer_block_bits=24, tag_bits=10, count_bits=15, lba_bits=31,
        update_interval=2, update_divider=4, late_polls=1024, code_strength=0, read_levels=0, level_bits=0,
        randomizer=False, codec=False, bus_page_bytes=4112, loaded_page_bytes=4120,
    ),
    "optimstore": dict(
        name="optimstore", write_sets=8, read_pages=8, read_queue=32, commands=64, max_blocks=4096,
        max_open=8, max_active=12, address_bits=36, die_word_bytes=32, data_bytes=16, page_beats=1024,
        page_shift=14, buffer_block_bits=22, tag_bits=6, count_bits=13, lba_bits=26,
        update_interval=2, update_divider=2, late_polls=1024, code_strength=0, read_levels=0, level_bits=0,
        randomizer=False, codec=False, bus_page_bytes=16_400, loaded_page_bytes=16_408,
    ),
    "g9_slc": dict(
        name="g9_slc", write_sets=16, read_pages=8, read_queue=32, commands=256, max_blocks=4096,
        max_open=8, max_active=12, address_bits=36, die_word_bytes=32, data_bytes=128, page_beats=128,
        page_shift=14, buffer_block_bits=22, tag_bits=8, count_bits=13, lba_bits=30,
        update_interval=2, update_divider=6, late_polls=1024, code_strength=0, read_levels=0, level_bits=0,
        randomizer=False, codec=False, bus_page_bytes=16_400, loaded_page_bytes=16_408,
    ),
}  # fmt: skip

CONFIGS["g9_drive"] = CONFIGS["g9_slc"] | dict(name="g9_drive", data_bytes=32, page_beats=512, lba_bits=28)

for _config in CONFIGS.values():
    _config |= dict(
        fp8_state=False, command_port=False,
        port_delay=4,
        pad_ns=0,
        engine_modes={},
        column_change_cycles=180,
        status_lead=0,
        port_modes=[  # at 600 MHz: WE_n low and high, RE_n low and high, between kinds
            (30, 30, 30, 30, 300), (15, 12, 24, 9, 300), (11, 10, 21, 9, 300), (9, 9, 18, 6, 300),
            (8, 7, 18, 6, 300), (6, 6, 16, 5, 300),
        ],
    )  # fmt: skip

for _name in ("g9_slc", "g9_drive"):  # three times the clock, and SCA
    CONFIGS[_name] |= dict(
        column_change_cycles=540 - 108,
        status_lead=54 + 144,
        port_modes=[
            (90, 90, 90, 90, 900), (45, 36, 60, 30, 900), (31, 32, 51, 27, 900), (27, 27, 42, 18, 900),
            (22, 23, 42, 18, 900), (18, 18, 35, 13, 900),
        ],
    )  # fmt: skip

for _name, _strength, _bytes, _blocks, _bits in (
    ("tiny", 9, 544, 18, 5), ("small", 13, 4208, 34, 6), ("behemoth", 13, 4208, 697, 10),
):  # fmt: skip
    _zones = GEOMETRIES[_name]["zones"]
    GEOMETRIES[f"{_name}_ecc"] = GEOMETRIES[_name] | dict(
        blocks=_blocks, block_bits=_bits, spare_blocks=_blocks - _zones, spares=range(_zones, _blocks)
    )
    CONFIGS[f"{_name}_ecc"] = CONFIGS[_name] | dict(
        name=f"{_name}_ecc",
        code_strength=_strength,
        read_levels=3,
        level_bits=2,
        randomizer=True,
        bus_page_bytes=_bytes,
    )

for _name in ("tiny", "small", "behemoth"):
    GEOMETRIES[f"{_name}_codec"] = GEOMETRIES[_name]
    CONFIGS[f"{_name}_codec"] = CONFIGS[_name] | dict(name=f"{_name}_codec", codec=True)

GIGABYTES_PER_SECOND = {
    # name: (channel bound, program bound)
    "tiny": (2.4, 0.512),
    "small": (4.8, 1.31072),
    "behemoth": (76.8, 41.94304),
    "behemoth_wide": (76.8, 83.88608),
    "optimstore": (9.6, 20.97152),
    "g9_slc": (230.4, 64 * 8 * 65_536 / 300e-6 / 1e9),
    "g9_drive": (57.6, 16 * 8 * 65_536 / 300e-6 / 1e9),
}

ARRAY_CYCLES = {
    # name: (tr, tprog, tbers)
    "tiny": (600, 2_400, 6_000),
    "small": (1_800, 60_000, 250_000),
    "behemoth": (1_800, 60_000, 3_000_000),
    "behemoth_wide": (1_800, 60_000, 3_000_000),
    "optimstore": (18_000, 60_000, 3_000_000),
    "g9_slc": (45_000, 540_000, 27_000_000),
    "g9_drive": (45_000, 540_000, 27_000_000),
}


def test_the_presets_are_these():
    assert list(PRESETS) == list(GEOMETRIES)
    assert all(preset(name) is config and config.name == name for name, config in PRESETS.items())


@pytest.mark.parametrize("name", GEOMETRIES)
def test_geometry(name):
    assert numbers(preset(name).geometry) == GEOMETRIES[name]


@pytest.mark.parametrize("name", CONFIGS)
def test_config(name):
    derived = numbers(preset(name))
    net = derived.pop("net_channel_bytes_per_second")
    assert (derived.pop("chip_enables"), derived.pop("lun_bits")) == (GEOMETRIES[name]["dies"], 0)
    assert (derived.pop("part_bytes"), derived.pop("page_parts")) == (0, 1)
    bounds = derived.pop("channel_bytes_per_second"), derived.pop("program_bytes_per_second")
    assert derived == CONFIGS[name]
    figures = GIGABYTES_PER_SECOND[name.removesuffix("_ecc").removesuffix("_codec")]
    assert bounds == pytest.approx([figure * 1e9 for figure in figures], rel=1e-12)
    parity = {"tiny_ecc": 0.0294, "small_ecc": 0.0228, "behemoth_ecc": 0.0228}.get(name, 0)
    assert net / bounds[0] == pytest.approx(1 - parity, abs=1e-4)


@pytest.mark.parametrize("name", ARRAY_CYCLES)
def test_array_times(name):
    timing = preset(name).timing
    assert tuple(timing.cycles(time) for time in ("tr", "tprog", "tbers")) == ARRAY_CYCLES[name]


def test_unknown_preset():
    with pytest.raises(ConfigError) as caught:
        preset("medium")
    known = (
        "tiny, small, behemoth, behemoth_wide, optimstore, g9_slc, g9_drive, tiny_ecc, small_ecc,"
        " behemoth_ecc, tiny_codec, small_codec, behemoth_codec"
    )
    assert str(caught.value) == f"no preset 'medium'; expected one of {known}"


def test_parity_has_to_fit():
    with pytest.raises(ConfigError, match=r"config\.code_strength"):
        replace(preset("tiny"), code_strength=10)


def test_only_a_code_needs_levels():
    with pytest.raises(ConfigError, match=r"config\.read_levels"):
        replace(preset("tiny"), read_levels=1)
