"""Sweep files: the points that they name, and one line for each mistake."""

from dataclasses import dataclass, replace
from enum import Enum

import pytest

from flashtrain.reading import InputError
from flashtrain.spec import PRESETS, ConfigError, Duration, preset
from flashtrain.spec.config_file import config_text
from flashtrain.spec.limits import integer
from flashtrain.sweep.columns import config_columns, config_from
from flashtrain.sweep.file import load_sweep
from flashtrain.sweep.limits import Options, choice, members, number
from flashtrain.sweep.point import Point, Workload
from tests.sweep.jobs import LINKS, WORKLOADS, points_of

START = 'presets = ["tiny"]\nworkloads = ["capacity"]\n'


def test_a_preset_alone(tmp_path):
    (point,) = points_of(tmp_path, START)
    assert point == Point("tiny", preset("tiny"), "capacity", "", point.options, False)


def test_a_product_takes_the_last_list_first(tmp_path):
    points = points_of(tmp_path, START + "[product]\nwrite_sets = [2, 3]\ngeometry.dies = [1, 2]\n")
    sizes = [(point.config.write_sets, point.config.geometry.dies) for point in points]
    assert sizes == [(2, 1), (2, 2), (3, 1), (3, 2)]
    names = [point.config.name for point in points]
    assert names == ["tiny-write_sets2-dies1", "tiny-write_sets2-dies2", "tiny", "tiny-write_sets3-dies2"]
    assert points[2].config == preset("tiny")


def test_a_zip_goes_in_step_and_is_an_axis_of_the_product(tmp_path):
    text = START + "[product]\ncommands = [8, 16]\n[[zip]]\nwrite_sets = [4, 5]\ngeometry.dies = [1, 2]\n"
    points = [point.config for point in points_of(tmp_path, text)]
    sizes = [(c.commands, c.write_sets, c.geometry.dies) for c in points]
    assert sizes == [(8, 4, 1), (8, 5, 2), (16, 4, 1), (16, 5, 2)]


def test_durations_parts_and_files(tmp_path):
    (tmp_path / "own.toml").write_text(config_text(replace(preset("tiny"), name="own")), encoding="utf-8")
    rest = 'workloads = ["capacity"]\n[product]\n'
    text = f'configs = ["own.toml"]\n{rest}timing.tprog = [5000, {{ns = 1, cycles = 4000}}]'
    points = points_of(tmp_path, text)
    assert [point.config.timing.tprog for point in points] == [Duration(1, 5000), Duration(4000, 1)]
    assert [point.base for point in points] == ["own.toml"] * 2
    text = f'presets = ["optimstore"]\n{rest}part = ["optimstore_pslc", "b17a_pslc"]'
    clocks = [point.config.timing.clock_mhz for point in points_of(tmp_path, text)]
    assert clocks == [600, 333]


def test_each_link_is_a_point_unless_there_is_no_device(tmp_path):
    text = 'presets = ["tiny"]\nworkloads = ["capacity", "picky"]\nlinks = ["functional", "rtl"]\n'
    points = points_of(tmp_path, text)
    assert [(point.workload, point.link) for point in points] == [
        ("capacity", ""), ("picky", "functional"), ("picky", "rtl"),
    ]  # fmt: skip
    assert len({point.key for point in points}) == 3


class Metal(Enum):
    TIN = 1
    LEAD = 2


@dataclass(frozen=True)
class Soldering(Options):
    metal: Metal = choice(members(Metal), "tin", "of the solder")
    heat: float = number(0, 9, "W", "of the iron", 1.5)
    hand: float | None = number(0, 9, "", "warmth of the hand", None)
    count: int = integer(1, 4, "", "joints", 2)


SOLDER = {"solder": Workload("with options", lambda point: {}, options=Soldering)}


def soldering(folder, text: str) -> list[Point]:
    path = folder / "sweep.toml"
    path.write_text(f'presets = ["tiny"]\nworkloads = ["solder"]\n[options.solder]\n{text}', encoding="utf-8")
    return load_sweep(path, SOLDER, LINKS)


def test_options_are_axes(tmp_path):
    points = soldering(tmp_path, 'metal = ["lead", "tin"]\nheat = [2, 3.5]\n')
    assert [point.options for point in points] == [
        Soldering(metal, heat) for metal in (Metal.LEAD, Metal.TIN) for heat in (2, 3.5)
    ]
    assert points[0].columns["option.metal"] == "lead" and points[0].columns["option.count"] == 2
    assert points[0].columns["option.hand"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('metal = ["gold"]', "options.solder.metal is 'gold'; expected one of tin, lead"),
        ('metal = "tin"', "options.solder.metal is 'tin'; expected a list of values"),
        ("heat = [10]", "options.solder.heat is 10; expected a number: 0 to 9"),
        ("heat = [true]", "options.solder.heat is True; expected a number: 0 to 9"),
        ("count = [0]", "options.solder.count is 0; expected an integer from 1 to 4"),
        ("flux = [1]", "unknown key options.solder.flux; expected one of metal, heat, hand, count"),
    ],
)
def test_mistakes_in_options(text, message, tmp_path):
    with pytest.raises(InputError) as caught:
        soldering(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'sweep.toml'}: {message}"


@pytest.mark.parametrize("config", PRESETS.values(), ids=lambda config: config.name)
def test_a_configuration_comes_back_from_its_columns(config):
    assert config_from(config_columns(config)) == config


MISTAKES = [
    ("", "presets is missing; expected names of presets, or configs with files"),
    ('preset = ["tiny"]', "unknown key preset; expected one of presets, configs, workloads, links"),
    ('presets = "tiny"', "presets is 'tiny'; expected a list of names"),
    ('presets = ["huge"]', "no preset 'huge'; expected some of tiny, small"),
    ('presets = ["tiny"]', "workloads is missing; expected some of capacity, picky"),
    ('configs = ["gone.toml"]\nworkloads = ["capacity"]', "gone.toml: cannot be read: No such file"),
    ('presets = ["tiny"]\nworkloads = ["fly"]', "workloads has 'fly'; expected some of capacity, picky"),
    ('presets = ["tiny"]\nworkloads = ["picky"]', "links is missing; expected functional or rtl for picky"),
    (START + 'links = ["pcie"]', "links has 'pcie'; expected some of functional, rtl"),
    (START + "quick = 1", "quick is 1; expected true or false"),
    (START + "product = 1", "product is 1; expected a table, [product]"),
    (START + "zip = 1", "zip is 1; expected tables, [[zip]]"),
    (START + "[[zip]]", "zip[0] is empty; expected lists of values"),
    (START + "[product]\nspeed = [1]", "unknown key product.speed; expected one of part, geometry, timing"),
    (START + "[product]\nname = ['a']", "unknown key product.name; expected one of part"),
    (START + "[product]\ngeometry.dice = [1]", "unknown key product.geometry.dice; expected one of channels"),
    (START + "[product]\ngeometry = [1]", "product.geometry is [1]; expected a table of its fields"),
    (START + "[product]\nwrite_sets = 4", "product.write_sets is 4; expected a list of values"),
    (START + "[product]\nwrite_sets = []", "product.write_sets is []; expected a list of values"),
    (
        START + "[product]\nwrite_sets = ['4']",
        "tiny with write_sets = 4: write_sets is '4'; expected an integer from 2 to 16",
    ),
    (
        START + "[product]\ngeometry.dies = [1, 3]",
        "tiny with geometry.dies = 3: geometry.dies is 3; expected a power of two from 1 to 8",
    ),
    (
        START + "[product]\nmax_open = [2, 4]\nmax_active = [3]",
        "tiny with max_open = 4, max_active = 3: max_active is 3; expected an integer from 4 to 255",
    ),
    (
        START + "[[zip]]\nwrite_sets = [2, 3]\ncommands = [8]",
        "zip[0].commands has 1 values; expected 2, as many as zip[0].write_sets",
    ),
    (
        START + "[product]\nwrite_sets = [2]\n[[zip]]\nwrite_sets = [3]",
        "write_sets is swept twice; expected it in product or in one zip",
    ),
    (
        START + "[product]\nwrite_sets = [2, 2]",
        "capacity on tiny-write_sets2 is there twice; expected different values in all lists",
    ),
    (START + "options.picky.a = [1]", "unknown key options.picky; expected one of capacity"),
    (START + "options.capacity.a = [1]", "unknown key options.capacity.a; expected none"),
    (START + "[product\n", "not TOML: "),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_names_file_key_and_expectation(text, message, tmp_path):
    with pytest.raises(InputError) as caught:
        points_of(tmp_path, text)
    line = str(caught.value)
    assert line.count("\n") == 0
    file = tmp_path / ("gone.toml" if message.startswith("gone") else "sweep.toml")
    assert line.startswith(f"{file}: " + message.removeprefix("gone.toml: "))


def test_a_check_of_the_workload_comes_before_anything_runs(tmp_path):
    def refuse(point: Point) -> None:
        raise ConfigError("geometry.blocks is 16; expected more")

    path = tmp_path / "sweep.toml"
    path.write_text(START, encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny: capacity: geometry\.blocks is 16; expected more"):
        load_sweep(path, {"capacity": replace(WORKLOADS["capacity"], check=refuse)}, LINKS)


def test_too_many_points(tmp_path):
    numbers = list(range(4, 404))
    text = f"{START}[product]\nlate_polls = {numbers}\nmax_active = {numbers[:300]}\n"
    with pytest.raises(InputError, match="the lists have 120,000 combinations; expected at most 100,000"):
        points_of(tmp_path, text)
