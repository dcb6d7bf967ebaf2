# amaranth: UnusedElaboratable=no
"""All float units, in several depths, behind one set of ports; and vectors run through them at full speed."""

import ctypes
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.add import Add
from flashtrain.rtl.float.convert import Narrow, Widen
from flashtrain.rtl.float.divide_root import DivideRoot
from flashtrain.rtl.float.formats import BFLOAT16, FLAGS, FLOAT16
from flashtrain.rtl.float.multiply import Multiply
from flashtrain.rtl.float.multiply_add import MultiplyAdd
from flashtrain.rtl.float.sign import Sign
from flashtrain.sim.bench.softfloat import Answers
from flashtrain.sim.verilator.verilated import (
    ModelSource,
    build_shared_library,
    exported_sources,
    verilate_all,
)

KINDS = {
    "MultiplyAdd": (MultiplyAdd, (1, 8, 16)),
    "Multiply": (Multiply, (1, 4, 13)),
    "Add": (Add, (1, 4, 13)),
    "ToFloat16": (partial(Narrow, FLOAT16), (1, 5)),
    "ToBFloat16": (partial(Narrow, BFLOAT16), (1, 5)),
    "FromFloat16": (partial(Widen, FLOAT16), (1, 3)),
    "FromBFloat16": (partial(Widen, BFLOAT16), (1, 3)),
    "DivideRoot": (DivideRoot, (1, 8)),
    "DivideRoot2": (partial(DivideRoot, bits=2, recurrences=3), (4,)),
    "DivideRoot3": (partial(DivideRoot, bits=3), (2,)),
    "Sign": (Sign, (1,)),
}
"""How to make each kind of unit, and the stages that it is tested with: fewest, some, most."""
HARNESS = Path(__file__).with_name("float_harness.cpp")


def all_units() -> dict[str, wiring.Component]:
    """The units under test by name: kind, and number of stages."""
    units = {}
    for kind, (make, depths) in KINDS.items():
        for stages in depths:
            units[f"{kind}_{stages}"] = make(stages=stages)
    return units


class FloatUnits(wiring.Component):
    """Gives the operands to the chosen unit and shows its result; the others see zeros and stand still.

    Operands and results narrower than 32 bits are at the lower end.

    Members
    -------
    unit : In(8)    number of the unit in `all_units`
    a, b, c : In(32)
    option : In(2)   the unit's inputs of one bit, in the order of its ports
    start, enable : In(1)
    result : Out(32)
    flags : Out(FLAGS)
    """

    unit: In(8)
    a: In(32)
    b: In(32)
    c: In(32)
    option: In(2)
    start: In(1)
    enable: In(1)
    result: Out(32)
    flags: Out(FLAGS)

    def elaborate(self, platform):
        m = Module()
        for number, (name, unit) in enumerate(all_units().items()):
            m.submodules[name] = unit
            options = iter(self.option)
            with m.If(self.unit == number):
                for port, value in _inputs(unit).items():
                    source = getattr(self, port) if hasattr(self, port) else next(options)
                    m.d.comb += value.eq(source)
                m.d.comb += [self.result.eq(unit.result), self.flags.eq(unit.flags)]
        return m


def run(name: str, *operands: np.ndarray, option: int = 0) -> Answers:
    """Results and flags of the named unit; new operands enter as often as its data sheet allows."""
    units = all_units()
    unit = units[name]
    count = len(operands[0])
    columns = [np.ascontiguousarray(column, np.uint32) for column in operands]
    columns += [np.zeros(count, np.uint32)] * (3 - len(columns))
    results, flags = np.zeros(count, np.uint32), np.zeros(count, np.uint8)
    _library().run(
        list(units).index(name), option, unit.latency, getattr(unit, "interval", 1), count,
        *(column.ctypes.data_as(ctypes.c_void_p) for column in (*columns, results, flags)),
    )  # fmt: skip
    return Answers(results, flags)


@cache
def _library() -> ctypes.CDLL:
    sources = exported_sources(FloatUnits, "float_units", Path(__file__).read_text(encoding="utf-8"))
    source = ModelSource(sources, "float_units", "Vfloat_units", optimization="-Og")
    models = verilate_all([source], "float_units")
    return ctypes.CDLL(str(build_shared_library(models, [HARNESS], "float_units", optimization="-Og")))


def _inputs(unit: wiring.Component) -> Mapping[str, object]:
    return {name: getattr(unit, name) for name, member in unit.signature.members.items() if member.flow == In}
