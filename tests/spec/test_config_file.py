"""Configurations in files: what a file gives, complete files of all presets, and every mistake."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.reading import InputError
from flashtrain.spec import PRESETS, Duration, config_text, load_config
from flashtrain.spec.generate import CONFIGURATION_PAGE
from flashtrain.spec.parts import PARTS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(tmp_path):
    """Loads a text as the file `own.toml`."""

    def load_text(text):
        file = tmp_path / "own.toml"
        file.write_text(text, encoding="utf-8")
        return load_config(file)

    return load_text


@pytest.mark.parametrize("name", PRESETS)
def test_a_complete_file_gives_an_equal_configuration(name, load):
    text = config_text(PRESETS[name])
    assert load(text) == PRESETS[name]
    assert "base" not in text
    # Names of cached builds are made of this.
    assert repr(load(text)) == repr(PRESETS[name])


def test_what_differs_from_a_base(load):
    config = load("""
        base = "small"
        write_sets = 8
        randomizer = true
        [geometry]
        channels = 8
        [timing]
        tprog = 200_000
        trr = { ns = 20, cycles = 14 }
        tbers = 416_666.5
    """)
    small = PRESETS["small"]
    assert config == replace(
        small,
        name="own",
        write_sets=8,
        randomizer=True,
        geometry=replace(small.geometry, channels=8),
        timing=replace(
            small.timing,
            tprog=Duration(1, 200_000),
            trr=Duration(14, 20),
            tbers=Duration(1, 416_666.5),
        ),
    )
    assert config_text(config) == config_text(load(config_text(config)))


def test_only_what_has_no_default_needs_a_base(load):
    config = load("""
        write_sets = 3
        read_pages = 2
        read_queue = 4
        max_blocks = 12
        [geometry]
        channels = 1
        dies = 1
        planes = 2
        blocks = 16
        pages = 6
    """)
    assert config.geometry.page_bytes == 4096 and config.timing.clock_mhz == 600 and config.commands == 64


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_replaces_the_die_of_its_base(part, load):
    config = load(f'base = "small_ecc"\npart = "{part.name}"\nname = "mine"\n[geometry]\nblocks = 40')
    g, base = config.geometry, PRESETS["small_ecc"]
    assert (g.channels, g.dies, g.spare_blocks) == (4, 2, 2)
    assert (g.planes, g.blocks, g.pages) == (part.planes, 40, part.pages)
    assert (g.page_bytes, g.spare_bytes) == (part.page_bytes, part.spare_bytes)
    assert config.timing == part.timing
    assert config.name == "mine" and config.code_strength == base.code_strength


def test_a_preset_may_be_written_out(load):
    assert load('base = "tiny"\nname = "tiny"') == PRESETS["tiny"]


MISTAKES = [
    ("base = ", "not TOML: Invalid value (at end of document)"),
    ('base = "huge"', f"base is 'huge'; expected one of {', '.join(PRESETS)}"),
    ("base = 3", f"base is 3; expected one of {', '.join(PRESETS)}"),
    ('base = "small"\npart = "b17a_pslc"\n[chips]\nsca = true',
     "chips.sca is true; expected false: part 'b17a_pslc' does not declare it"),
    ('base = "behemoth"\n[chips]\nsca = true',
     "chips.sca is true; expected false: part 'behemoth_slc' does not declare it"),
    ('part = "slc"', f"part is 'slc'; expected one of {', '.join(PARTS)}"),
    ("write_sets = 3", "geometry.channels is missing; expected it, or a base"),
    ("[geometry]\nchannels = 2", "geometry.dies is missing; expected it, or a base"),
    ('base = "small"\ngeometry = 3', "geometry is 3; expected a table, [geometry]"),
    ('base = "small"\n[geometry]\nchanels = 3',
     "unknown key geometry.chanels; expected one of channels, dies, planes, blocks, pages, "
     "page_bytes, spare_bytes, spare_blocks"),
    ('base = "small"\nname = "small"\nwrite_sets = 5',
     "name is 'small', a preset's; expected another one, since the file differs"),
    ('base = "small"\nname = 3',
     "name is 3; expected letters, digits, '_', '-' and '.', a letter or digit first"),
    ('base = "small"\nwrite_sets = 17', "write_sets is 17; expected an integer from 2 to 16"),
    ('base = "small"\nwrite_sets = "4"', "write_sets is '4'; expected an integer from 2 to 16"),
    ('base = "small"\nwrite_sets = 4.0', "write_sets is 4.0; expected an integer from 2 to 16"),
    ('base = "small"\nwrite_sets = true', "write_sets is True; expected an integer from 2 to 16"),
    ('base = "small"\nrandomizer = 1', "randomizer is 1; expected true or false"),
    ('base = "small"\n[geometry]\nchannels = 3',
     "geometry.channels is 3; expected a power of two from 1 to 64"),
    ('base = "small"\n[geometry]\nplanes = 16', "read_queue is 16; expected an integer from 32 to 256"),
    ('base = "small"\ncode_strength = 40',
     "code_strength is 40; expected parity that fits 208 spare bytes, not 288"),
    ('base = "small"\n[timing]\ntr = "3 us"',
     "timing.tr is '3 us'; expected nanoseconds, or a table with ns and cycles"),
    ('base = "small"\n[timing]\ntr = true',
     "timing.tr is True; expected nanoseconds, or a table with ns and cycles"),
    ('base = "small"\n[timing]\ntr = { us = 3 }', "unknown key timing.tr.us; expected one of cycles, ns"),
    ('base = "small"\n[timing]\ntr = -1', "timing.tr.ns is -1; expected a number from 0 to 1000000000"),
    ('base = "small"\n[timing]\ntr = 100',
     "timing.tr is 100 ns; expected at least 913.3 ns, "
     "548 cycles of 600 MHz, to move 540 register words"),
    ('base = "small"\n[timing]\nclock_mhz = 600.0',
     "timing.clock_mhz is 600.0; expected an integer from 1 to 2000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_names_file_key_and_what_was_expected(text, message, load, tmp_path):
    with pytest.raises(InputError) as caught:
        load(text)
    assert str(caught.value) == f"{tmp_path / 'own.toml'}: {message}"


def test_an_unknown_key_at_the_top(load):
    with pytest.raises(
        InputError, match=r"own\.toml: unknown key write_set; expected one of base, part, name, "
    ):
        load('base = "small"\nwrite_set = 3')


def test_a_file_in_another_encoding(tmp_path):
    file = tmp_path / "own.toml"
    file.write_bytes(b"base = \xff")
    with pytest.raises(InputError, match=r"own\.toml:1: not UTF-8 at byte 7; expected text"):
        load_config(file)


def test_a_file_name_that_is_no_name(tmp_path):
    file = tmp_path / "my own.toml"
    file.write_text('base = "small"\nwrite_sets = 5', encoding="utf-8")
    with pytest.raises(InputError, match="name is 'my own'; expected letters, digits"):
        load_config(file)


def test_the_files_of_the_page(load):
    page = (ROOT / CONFIGURATION_PAGE).read_text(encoding="utf-8")
    configs = [load(text) for text in re.findall("```toml\n(.*?)```", page, re.S)]
    assert [(c.geometry.channels, c.geometry.page_bytes) for c in configs] == [(8, 4096), (2, 16384)]


def test_each_value_of_a_part_has_a_source():
    for part in PARTS.values():
        times = [f.name for f in part.timing.__dataclass_fields__.values()]
        # What is the default of all configurations may stand in the row of the bus.
        own = [
            name for name in times if getattr(part.timing, name) != getattr(PRESETS["behemoth"].timing, name)
        ]
        assert {*part.geometry(), *own, "bus"} <= set(part.sources)
        assert set(part.sources) <= {*part.geometry(), *times, "bus", "sca", "sca_times"}
        assert all(part.sources.values())
