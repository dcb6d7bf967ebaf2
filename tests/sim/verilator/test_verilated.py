"""The in-process shared library: content, cache, errors."""

import ctypes
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.native.build_cache import SourceError
from flashtrain.native.user_cache import UserCache
from flashtrain.sim.verilator.verilated import build_shared_library, exported_sources, verilate
from flashtrain.spec.errors import ToolError

HARNESS = Path(__file__).with_name("accumulator_harness.cpp")


class Accumulator(wiring.Component):
    """Adds what comes in.

    Members
    -------
    term : In(32)
    total : Out(64)  sum of the terms of all cycles before this one
    """

    term: In(32)
    total: Out(64)

    def elaborate(self, platform):
        m = Module()
        total = Signal(64)
        m.d.sync += total.eq(total + self.term)
        m.d.comb += self.total.eq(total)
        return m


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rtl")
    return exported_sources(Accumulator, "accumulator", "", UserCache(folder))


def test_library_computes(sources):
    library = ctypes.CDLL(
        str(build_shared_library([verilate(sources, "accumulator", "Vtop")], [HARNESS], "accumulator"))
    )
    library.accumulate.restype = ctypes.c_uint64
    terms = (ctypes.c_uint32 * 4)(1, 10, 100, 0xFFFF_FFFF)
    assert library.accumulate(terms, 4) == 111 + 0xFFFF_FFFF


def test_libraries_in_one_process_share_nothing(sources, tmp_path):
    """The static member of a template is unique in a process unless the library hides it."""
    model, cache = verilate(sources, "accumulator", "Vtop"), UserCache(tmp_path / "cache")
    found = []
    for number in (1, 2):
        harness = tmp_path / f"{number}.cpp"
        harness.write_text(
            "namespace flashtrain { template <int> struct Facts { static inline int value = "
            + str(number)
            + '; }; }\nextern "C" int fact() { return flashtrain::Facts<0>::value; }\n',
            encoding="utf-8",
        )
        library = ctypes.CDLL(str(build_shared_library([model], [harness], "facts", cache)))
        found.append(library.fact())
    assert found == [1, 2]


def test_second_build_is_a_look_up(sources, capfd):
    first = build_shared_library([verilate(sources, "accumulator", "Vtop")], [HARNESS], "accumulator")
    capfd.readouterr()
    second = build_shared_library([verilate(sources, "accumulator", "Vtop")], [HARNESS], "accumulator")
    assert second == first
    assert capfd.readouterr().err == ""


def test_second_export_does_not_elaborate(tmp_path):
    made = []

    def make_top():
        made.append(Accumulator())
        return made[-1]

    cache = UserCache(tmp_path)
    first = exported_sources(make_top, "accumulator", "", cache)
    assert exported_sources(make_top, "accumulator", "", cache) == first
    assert len(made) == 1
    assert exported_sources(make_top, "accumulator", "another configuration", cache) != first
    assert len(made) == 2


def test_broken_harness(sources, tmp_path):
    cache, broken = UserCache(tmp_path / "cache"), tmp_path / "broken.cpp"
    broken.write_text("nonsense here;\n", encoding="utf-8")
    with pytest.raises(ToolError, match="accumulator does not compile"):
        build_shared_library([verilate(sources, "accumulator", "Vtop")], [broken], "accumulator", cache)


def test_two_files_of_one_name(sources, tmp_path):
    with pytest.raises(SourceError, match=r"accumulator\.sv"):
        verilate([*sources, *sources], "accumulator", "Vtop", UserCache(tmp_path))
