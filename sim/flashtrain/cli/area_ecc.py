"""`flashtrain area ecc`: the units of error correction in an FPGA, beside those of another controller."""

import argparse
from functools import partial

from flashtrain.spec import preset
from flashtrain.spec.ecc import PageCode

from .area_parts import Measured, Part, measure
from .console import Console, table

PARALLEL = (4, 8, 16)
"""Bits that a search looks at in a clock."""
COSMOS = {"solver": 6_072, "encoder": 273}
"""LUT6 of Cosmos+ OpenSSD's: BCH of strength 14 per 256 bytes."""


def parts(code: PageCode) -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.ecc.decoder import PageDecoder
    from flashtrain.rtl.ecc.encoder import PageEncoder
    from flashtrain.rtl.ecc.search import RootSearch
    from flashtrain.rtl.ecc.solver import KeySolver
    from flashtrain.rtl.ecc.syndromes import PageSyndromes

    return [
        Part("ecc_encoder", "encoder", partial(PageEncoder, code)),
        Part("ecc_syndromes", "syndromes", partial(PageSyndromes, code)),
        Part("ecc_solver", "solver", partial(KeySolver, code)),
        *(Part(f"ecc_search_{bits}", f"search, {bits} bits per clock", partial(RootSearch, code, bits))
          for bits in PARALLEL),
        Part("ecc_decoder", "decoder with a search of 8", partial(PageDecoder, code)),
    ]  # fmt: skip


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.tools import versions

    code = PageCode.of(preset("small").geometry, preset("small_ecc").code_strength)
    tools = versions(placing=options.clock)
    measured = measure(parts(code), options.clock, console)
    console.say(
        f"{code.words} code words of {code.word_bytes} bytes in a page, strength {code.strength}, "
        f"{code.parity_bits} bits of parity; 16 bits per clock"
    )
    console.say(_table(measured))
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "parts": {key: one.document() for key, one in measured.items()},
            "cosmos_lut6": COSMOS,
            "tools": tools,
        }
    )
    return 0


def _table(measured: dict[str, Measured]) -> str:
    rows = []
    for one in measured.values():
        numbers = one.all_lut6, one.ecp5.lut, one.ecp5.registers, one.ecp5.lut_memory
        rows.append((one.title, *(f"{number:,}" for number in numbers), one.depth, one.clock))
    for unit, lut6 in COSMOS.items():
        rows.append((f"Cosmos+ OpenSSD, {unit}: strength 14, 256 bytes", f"{lut6:,}", "", "", "", "", ""))
    return table(("", "LUT6", "ECP5 LUT4", "registers", "LUT memory", "depth", "clock"), rows)
