"""The wrapper around cocotb's runner. Also the example to copy: a component, its bench beside this file."""

from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.native.user_cache import user_cache, using_cache
from flashtrain.sim.bench.runner import BenchEmpty, BenchFailed, Simulator, run_bench
from flashtrain.spec.errors import ToolError

DEPTH = 8
WIDTH = 16


class Queue(wiring.Component):
    """A queue of `depth` words, a power of two.

    Latency: one clock. Throughput: one word per clock.

    Members
    -------
    w : In(stream)   words in
    r : Out(stream)  the same words, in the same order
    """

    def __init__(self, width: int, depth: int):
        self.width = width
        self.depth = depth
        super().__init__({"w": In(stream.Signature(width)), "r": Out(stream.Signature(width))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = Memory(shape=self.width, depth=self.depth, init=[])
        write = words.write_port()
        read = words.read_port(domain="comb")
        written = Signal(range(2 * self.depth))
        taken = Signal(range(2 * self.depth))
        level = Signal(range(2 * self.depth))
        m.d.comb += [
            level.eq(written - taken),
            self.w.ready.eq(level != self.depth),
            write.addr.eq(written),
            write.data.eq(self.w.payload),
            write.en.eq(self.w.valid & self.w.ready),
            self.r.valid.eq(level != 0),
            read.addr.eq(taken),
            self.r.payload.eq(read.data),
        ]
        with m.If(write.en):
            m.d.sync += written.eq(written + 1)
        with m.If(self.r.valid & self.r.ready):
            m.d.sync += taken.eq(taken + 1)
        return m


def run(bench: str, simulator: Simulator, seed: int, **options):
    return run_bench(
        Queue(WIDTH, DEPTH),
        "queue",
        Path(__file__).with_name(bench),
        simulator=simulator,
        seed=seed,
        parameters={"width": WIDTH, "depth": DEPTH},
        **options,
    )


def test_queue(simulator, seed):
    report = run("queue_bench.py", simulator, seed)
    assert set(report.tests) == {"keeps_order_and_contents", "moves_a_word_per_clock", "holds_depth_words"}


def test_filter_and_waves(simulator, seed):
    report = run("queue_bench.py", simulator, seed, test_filter="holds_depth", waves=True)
    assert report.tests == ("holds_depth_words",)
    (waves,) = report.folder.glob("dump.*")
    assert waves.stat().st_size > 100


def test_a_failing_test_is_an_error(simulator, seed, tmp_path):
    """Its result shows the values in the assertion."""
    with pytest.raises(BenchFailed, match=f"seed {seed}: 1 of 2 failed: fails"):
        run("failing_bench.py", simulator, seed, runs=tmp_path)
    (results,) = tmp_path.glob("*/*/results.xml")
    assert "assert 13 == 5" in results.read_text(encoding="utf-8")


def test_a_bench_without_tests_is_an_error(simulator, seed):
    with pytest.raises(BenchEmpty):
        run("failing_bench.py", simulator, seed, test_filter="no_such_test")


def test_a_second_folder_compiles_nothing(simulator, seed, tmp_path):
    """The user's cache has the compiled design alone; each folder has the results of its runs."""
    compiled = []
    for name in ("one", "two"):
        report = run("queue_bench.py", simulator, seed, test_filter="holds_depth", runs=tmp_path / name)
        assert report.folder.is_relative_to(tmp_path / name)
        (entry,) = (user_cache().folder / "bench").glob(report.folder.parent.name)
        assert len(list(entry.iterdir())) == 2  # with its record
        compiled.append({path.stat().st_ino for path in entry.iterdir()})
    assert compiled[0] == compiled[1]


def test_a_folder_with_a_space(simulator, seed, tmp_path):
    """Works for the runs, and on Icarus for the cache. On Verilator one line refuses such a cache before
    anything is compiled.
    """
    folder = tmp_path / "Größe (1)"
    options = {"test_filter": "holds_depth", "runs": folder / "runs"}
    run("queue_bench.py", simulator, seed, **options)
    with using_cache(folder / "cache"):
        if simulator is Simulator.ICARUS:
            run("queue_bench.py", simulator, seed, **options)
            return
        with pytest.raises(ToolError, match=r" name has ' ' '\(' '\)', as make splits it: ") as raised:
            run("queue_bench.py", simulator, seed, **options)
    assert str(folder / "cache") in str(raised.value) and not list(folder.rglob("*.o"))


def test_a_design_that_does_not_compile_is_an_error(simulator, seed, tmp_path):
    broken = tmp_path / "broken.sv"
    broken.write_text("module broken(input clk); nonsense here; endmodule\n", encoding="utf-8")
    with pytest.raises(ToolError, match="broken does not compile"):
        run_bench(
            [broken],
            "broken",
            Path(__file__).with_name("failing_bench.py"),
            simulator=simulator,
            seed=seed,
            runs=tmp_path,
        )
