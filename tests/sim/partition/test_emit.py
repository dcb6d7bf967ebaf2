"""A component in parts behaves clock by clock as in one piece, whoever sleeps."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.native.user_cache import UserCache
from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.sim import partition
from flashtrain.sim.link.library import header_of_models
from flashtrain.sim.partition.emit import PartsClass, prefix_of
from flashtrain.sim.partition.model_facts import model_facts
from flashtrain.sim.partition.next_states import with_next_states_at_the_clock
from flashtrain.sim.partition.options import Plan
from flashtrain.sim.partition.split import cut
from flashtrain.sim.verilator.verilated import ModelSource, build_shared_library, verilate, verilate_all

HARNESS = Path(__file__).with_name("parts_harness.cpp")
INSTANCES = 3
CYCLES = 10_000


class Accumulator(wiring.Component):
    term: In(8)
    go: In(1)
    total: Out(8)

    def elaborate(self, platform):
        m = Module()
        with m.If(self.go):
            m.d.sync += self.total.eq(self.total + self.term)
        return m


class Gate(wiring.Component):
    """What it puts out follows its inputs within the clock; `value` is let through, or the last that was."""

    value: In(8)
    open: In(1)
    passed: Out(8)
    opened: Out(1)

    def elaborate(self, platform):
        m = Module()
        held = Signal(8)
        m.d.comb += self.opened.eq(self.open & self.value[0])
        m.d.comb += self.passed.eq(Mux(self.open, self.value, held))
        m.d.sync += held.eq(self.passed)
        return m


class Store(wiring.Component):
    """Keeps a value, and a clock later its complement."""

    value: In(8)
    put: In(1)
    kept: Out(8)

    def elaborate(self, platform):
        m = Module()
        fresh = Signal()
        m.d.sync += fresh.eq(self.put)
        with m.If(fresh):
            m.d.sync += self.kept.eq(~self.kept)
        with m.If(self.put):
            m.d.sync += self.kept.eq(self.value)
        return m


class Timer(wiring.Component):
    """Counts how often its time is over; in between it needs no clock."""

    cycle: In(32)
    go: In(1)
    wake: Out(32)
    count: Out(8)

    def elaborate(self, platform):
        m = Module()
        runs = Signal()
        ends = Signal(32)
        m.d.comb += self.wake.eq(Mux(runs, ends, -1))
        with m.If(runs):
            with m.If(self.cycle == ends):
                m.d.sync += [runs.eq(0), self.count.eq(self.count + 1)]
        with m.Elif(self.go):
            m.d.sync += [runs.eq(1), ends.eq(self.cycle + 37)]
        return m


class Countdown(wiring.Component):
    """Says when it has come to its end."""

    go: In(1)
    left: Out(7)
    running: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.running.eq(self.left != 0)
        with m.If(self.go):
            m.d.sync += self.left.eq(5)
        with m.Elif(self.running):
            m.d.sync += self.left.eq(self.left - 1)
        return m


class Pair(wiring.Component):
    """Two accumulators behind the same wires, which branch inside; only registers see some of them."""

    term: In(8)
    go: In(1)
    total: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.one = one = Accumulator()
        m.submodules.other = other = Accumulator()
        m.d.comb += [one.term.eq(self.term), one.go.eq(self.go), other.go.eq(self.go)]
        m.d.comb += [other.term.eq(one.total), self.total.eq(other.total ^ self.term)]
        return m


class Chain(wiring.Component):
    """Sums go through a gate to other sums, and on their way to some logic of the whole."""

    term: In(8)
    go: In(1)
    open: In(1)
    take: In(1)
    cycle: In(32)
    passed: Out(8)
    total: Out(8)
    kept: Out(8)
    wake: Out(32)
    rung: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = Pair()
        m.submodules.gate = gate = Gate()
        m.submodules.last = last = Pair()
        m.submodules.store = store = Store()
        m.submodules.timer = timer = Timer()
        m.submodules.countdown = countdown = Countdown()
        taken = Signal()
        m.d.sync += taken.eq(self.take & gate.passed[0])
        m.d.comb += [
            first.term.eq(self.term),
            first.go.eq(self.go),
            gate.value.eq(first.total),
            gate.open.eq(self.open),
            last.term.eq(gate.passed),
            last.go.eq(taken),
            self.passed.eq(gate.passed),
            self.total.eq(last.total),
            store.value.eq(gate.passed),
            store.put.eq(gate.opened),
            self.kept.eq(store.kept),
            timer.cycle.eq(self.cycle),
            timer.go.eq(taken),
            self.wake.eq(timer.wake),
            countdown.go.eq(taken),
            self.rung.eq(timer.count ^ Cat(countdown.left, countdown.running)),
        ]
        return m


@pytest.fixture(
    scope="module",
    params=[((), ()), ((Gate, Pair, Timer), ()), ((Accumulator,), (Accumulator,))],
    ids=["now_and_then", "at_once", "nested"],
)
def library(request, tmp_path_factory) -> ctypes.CDLL:
    """Parts compared now and then, parts compared after each edge, and parts within parts."""
    folder = tmp_path_factory.mktemp("parts")
    cache = UserCache(folder / "cache")
    prompt, nested = request.param
    plan = Plan(
        (Gate, Pair, Store, Timer, Countdown, *nested), prompt=prompt, busy={Countdown: "running"},
        silent=("cycle",), enables=(Store,), guards={("store", "value"): ("put",)},
    )  # fmt: skip
    parts, modules = cut(Chain(), plan.parts, "chain", plan.kept, plan.enables)
    (folder / "whole.sv").write_text(export_design(Chain(), "whole").files["whole.sv"], encoding="utf-8")
    for module in modules:
        (folder / f"{module.name}.sv").write_text(
            with_next_states_at_the_clock(module.text), encoding="utf-8"
        )
    whole = verilate([folder / "whole.sv"], "whole", "Vwhole", cache)
    prefixes = {part.module: prefix_of(part) for part in parts.parts}
    sources = [ModelSource([folder / f"{name}.sv"], name, prefix) for name, prefix in prefixes.items()]
    models = dict(zip(prefixes, verilate_all(sources, "the parts of a chain", cache), strict=True))
    facts = {name: model_facts(model) for name, model in models.items()}
    generated = PartsClass("Parts", parts, facts, plan.fit(parts, "chain"))
    text = "\n".join(generated.lines())
    assert text.count(".compare_after_edge(") == (4 if prompt else 0)
    assert ".wake_if_changed(" in text and ".mark_input_changed(" in text, "inputs of both kinds"
    assert ".word_changed(i, 0)" in text, "outputs in words"
    assert len(re.findall(r"countdown\.set_awake\(i, countdown\[i\]\.\w*running\)", text)) == 1
    headers = {
        "models.h": "\n".join(header_of_models(models, facts, generated.silent_ports)),
        "cut.h": f'#include "models.h"\n#include "parts.h"\n{text}\n',
    }
    for name, content in headers.items():
        (folder / name).write_text(content, encoding="utf-8")
    shared = Path(partition.__file__).parent / "runtime"
    cpp = [HARNESS, *(folder / name for name in headers)]
    cpp += [shared / name for name in ("model.h", "sleep.h", "parts.h")]
    return ctypes.CDLL(str(build_shared_library([*models.values(), whole], cpp, "chain", cache)))


def stimuli(rng: np.random.Generator) -> np.ndarray:
    """Inputs of all instances for each clock; each stays as it is for one clock or for hundreds."""
    values = rng.integers(0, [256, 2, 2, 2], (CYCLES, INSTANCES, 4), np.uint8)
    often = rng.choice([0.002, 0.05, 1.0], (CYCLES // 500, 1, INSTANCES, 4)).repeat(500, 1)
    changes = rng.random(values.shape) < often.reshape(values.shape)
    changes[0] = True
    latest = np.maximum.accumulate(np.where(changes, np.arange(CYCLES)[:, None, None], 0))
    return np.ascontiguousarray(np.take_along_axis(values, latest, 0))


def test_parts_are_the_whole(library, seed):
    inputs = stimuli(np.random.default_rng(seed))
    in_parts, whole = (np.zeros((CYCLES, INSTANCES, 4), np.uint8) for _ in range(2))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (inputs, in_parts, whole)]
    library.run(*pointers, ctypes.c_size_t(CYCLES))
    assert len(np.unique(whole[..., 1])) == 256, "it moves"
    assert all(len(np.unique(whole[..., output])) > 10 for output in (2, 3)), "so do the others"
    np.testing.assert_array_equal(in_parts, whole)
