"""Where the values of a configuration come from."""

from dataclasses import replace

import pytest

from flashtrain.spec import PRESETS, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.parts import PARTS
from flashtrain.spec.sources import PRESET_SOURCES, part_of, sourced_values
from flashtrain.spec.state_format import StateFormat, StateFormats
from flashtrain.spec.update import Tile

OPTIMSTORE = preset("optimstore")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("behemoth", "behemoth_slc"),
        ("behemoth_ecc", "behemoth_slc"),
        ("optimstore", "optimstore_pslc"),
        ("g9_slc", "g9_slc"),
        ("g9_drive", "g9_slc"),
    ],
)
def test_the_part_of_a_preset(name, part):
    assert part_of(preset(name)) is PARTS[part]


def test_the_update_units_of_g9_slc_hide_behind_its_arrays():
    """A tile of SGD, the longest, with a unit of 300 MHz."""
    config = preset("g9_slc")
    cycles = config.geometry.page_set_bytes // 4 * config.update_interval * config.update_divider
    assert config.timing.clock_mhz / config.update_divider == 300
    assert cycles / config.timing.clock_mhz == pytest.approx(109.2, abs=0.05)
    assert cycles < config.timing.cycles("tprog")


def test_another_time_is_another_part():
    slower = replace(OPTIMSTORE, timing=replace(OPTIMSTORE.timing, tr=OPTIMSTORE.timing.tprog))
    assert part_of(slower) is None
    assert part_of(preset("small")) is None and not list(sourced_values(preset("small")))


@pytest.mark.parametrize("name", PRESET_SOURCES)
def test_every_value_of_a_preset_has_a_source(name):
    """Of its geometry all, and of its sizes those that differ from the defaults."""
    config = preset(name)
    values = list(sourced_values(config))
    keys = {value.key.partition(".sca")[0] for value in values}
    fields = config.geometry.__dataclass_fields__.values()
    assert {f"geometry.{f.name}" for f in fields} - keys == {"geometry.spare_blocks"}
    own = {
        field.name
        for field in config.__dataclass_fields__.values()
        if field.name not in ("name", "geometry", "timing") and getattr(config, field.name) != field.default
    }
    assert own <= keys
    assert all(value.source for value in values)


def test_sources_are_of_presets():
    assert set(PRESET_SOURCES) <= set(PRESETS)


def test_the_update_units_hide_behind_the_arrays():
    """What the reason of `update_interval` says, from the geometry: microseconds of a tile."""
    g, t, config = OPTIMSTORE.geometry, OPTIMSTORE.timing, OPTIMSTORE
    words = g.page_set_bytes // 4
    of_tile = [
        words // arrays * config.update_interval * config.update_divider / t.clock_mhz for arrays in (3, 2, 1)
    ]
    assert of_tile == pytest.approx([36.4, 54.6, 109.2], abs=0.05)
    gradients = g.dies * g.planes * g.page_bytes / t.bytes_per_second * 1e6
    assert gradients == pytest.approx(218.5, abs=0.05)
    assert of_tile[1] < t.cycles("tprog") / t.clock_mhz and of_tile[2] < gradients
    narrow = Tile.of(
        g,
        OptimizerCode.ADAM,
        GradientFormat.BF16,
        CopyFormat.NONE,
        StateFormats(StateFormat.BF16, StateFormat.BF16),
    )
    of_narrow, longer = (
        narrow.parameters * interval * config.update_divider / t.clock_mhz
        for interval in (config.update_interval, config.update_interval + 1)
    )
    assert of_narrow == pytest.approx(72.8, abs=0.05)
    assert of_narrow < t.cycles("tprog") / t.clock_mhz < longer
