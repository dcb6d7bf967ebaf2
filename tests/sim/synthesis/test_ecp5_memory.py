"""Registers behind a block memory become the memory's own, if they are like those."""

import pytest

from flashtrain.sim.synthesis.ecp5_memory import absorb_registers

CLOCK, OTHER_CLOCK, ENABLE, RESET = 2, 3, 4, 5


def memory(outputs: list[int]) -> dict:
    pins = {f"DOB{index}": [bit] for index, bit in enumerate(outputs)}
    return {
        "type": "DP16KD",
        "parameters": {"REGMODE_A": "NOREG", "REGMODE_B": "NOREG"},
        "port_directions": {"CLKA": "input", "CLKB": "input", "OCEB": "input"}
        | dict.fromkeys(pins, "output"),
        "connections": {"CLKA": [CLOCK], "CLKB": [CLOCK], "OCEB": ["1"], **pins},
    }


def register(source: int, output: int, **changed: int) -> dict:
    pins = {"CLK": CLOCK, "DI": source, "Q": output, **changed}
    directions = {pin: "output" if pin == "Q" else "input" for pin in pins}
    return {
        "type": "TRELLIS_FF",
        "parameters": {"REGSET": "RESET", "CEMUX": "CE" if "CE" in changed else "1"},
        "port_directions": directions,
        "connections": {pin: [bit] for pin, bit in pins.items()},
    }


def module(registers: list[dict], outputs: list[int] | None = None) -> dict:
    cells = {f"register_{index}": cell for index, cell in enumerate(registers)}
    return {
        "cells": {"memory": memory([10, 11]), **cells},
        "ports": {"out": {"direction": "output", "bits": outputs or []}},
    }


def test_registers_of_a_whole_word_are_absorbed():
    found = module([register(10, 20, CE=ENABLE), register(11, 21, CE=ENABLE)])
    assert absorb_registers(found) == 2
    assert list(found["cells"]) == ["memory"]
    assert found["cells"]["memory"]["parameters"]["REGMODE_B"] == "OUTREG"
    pins = found["cells"]["memory"]["connections"]
    assert (pins["DOB0"], pins["DOB1"], pins["OCEB"]) == ([20], [21], [ENABLE])


@pytest.mark.parametrize(
    "second",
    [
        register(11, 21, CLK=OTHER_CLOCK),
        register(11, 21, LSR=RESET),
        register(11, 21, CE=ENABLE),
        register(12, 21),
    ],
    ids=["another clock", "a reset", "another enable", "a bit without a register"],
)
def test_other_registers_stay(second):
    found = module([register(10, 20), second], outputs=[11] if second["connections"]["DI"] == [12] else None)
    assert absorb_registers(found) == 0
    assert found["cells"]["memory"]["parameters"]["REGMODE_B"] == "NOREG"


def test_a_word_that_is_also_used_at_once_stays():
    found = module([register(10, 20), register(11, 21)], outputs=[11])
    assert absorb_registers(found) == 0
