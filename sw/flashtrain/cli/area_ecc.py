"""`flashtrain area ecc`: the units of error correction in an FPGA, beside those of another controller."""

import argparse
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from flashtrain.spec import preset
from flashtrain.spec.ecc import STRENGTHS, PageCode

from .area_controller import Measured, Part
from .console import Console, table

if TYPE_CHECKING:
    from flashtrain.sim.synthesis import Placement

WANTED_MHZ = 150.0
"""What channel engines are to reach, too."""
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
    from flashtrain.sim.synthesis import Target, place, synthesis_tools, synthesise

    code = PageCode.of(preset("small").geometry, STRENGTHS["small"])
    tools = synthesis_tools()
    measured: dict[str, Measured] = {}
    titles: dict[str, str] = {}
    for part in parts(code):
        console.step(f"mapping the {part.title}")
        ecp5, lut6 = (synthesise(part.build(), part.key, target) for target in (Target.ECP5, Target.LUT6))
        placement = None
        if options.clock:
            console.step(f"placing and routing the {part.title}")
            placement = place(part.build(), part.key, clock_mhz=WANTED_MHZ)
        measured[part.key], titles[part.key] = Measured(ecp5, lut6, placement), part.title
    console.say(
        f"{code.words} code words of {code.word_bytes} bytes in a page, strength {code.strength}, "
        f"{code.parity_bits} bits of parity; 16 bits per clock"
    )
    console.say(_table(titles, measured))
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "parts": {
                key: {
                    "lut6": one.all_lut6,
                    "ecp5": asdict(one.ecp5),
                    "clock_mhz": one.placement and one.placement.clock_mhz,
                }
                for key, one in measured.items()
            },
            "cosmos_lut6": COSMOS,
            "tools": tools,
        }
    )
    return 0


def _table(titles: dict[str, str], measured: dict[str, Measured]) -> str:
    rows = []
    for key, one in measured.items():
        numbers = one.all_lut6, one.ecp5.lut, one.ecp5.registers, one.ecp5.lut_memory
        rows.append((titles[key], *(f"{number:,}" for number in numbers), _clock(one.placement)))
    for unit, lut6 in COSMOS.items():
        rows.append((f"Cosmos+ OpenSSD, {unit}: strength 14, 256 bytes", f"{lut6:,}", "", "", "", ""))
    return table(("", "LUT6", "ECP5 LUT4", "registers", "LUT memory", "clock"), rows)


def _clock(placement: "Placement | None") -> str:
    return f"{placement.clock_mhz:.1f} MHz" if placement else "-"
