"""NAND parts by name: the geometry of a die and its timing, each value with its source.

A part says nothing of the controller: channels, dies, buffers and code come from the rest of a configuration.
A value that no public source gives is an assumption, named as such beside the value.

Two simplifications hold for every part here. A die's bus runs at the part's fastest NV-DDR3 rate in the
pinout of this project, with ONFI's timing (`spec.timing`). Every page takes one program of `tprog`: the order
of passes within the word line of a multi-level cell is not modelled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from .geometry import Geometry
from .timing import NandTiming, ns


@dataclass(frozen=True)
class NandPart:
    """A die.

    Numbers as in `Geometry`; `sources`: of each value, by the name of its field; `bus` stands for all timing
    of the bus. `sca`: the die declares SCA (`spec.chips`).
    """

    name: str
    summary: str
    planes: int
    blocks: int
    pages: int
    page_bytes: int
    spare_bytes: int
    timing: NandTiming
    sources: Mapping[str, str] = field(hash=False)
    sca: bool = False

    def geometry(self) -> dict[str, int]:
        """The fields of `Geometry` that the part determines."""
        names = [each.name for each in fields(Geometry)]
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name in names}


_FAST21 = "Behemoth (FAST'21), storage parameters"
_UT81 = "data sheet UT81NDQ512G8T (CAES, 11/22: 4 Tb TLC NAND of B17A dies), features"
_ONFI = "ONFI 5.1 for NV-DDR3, as in every preset"
_PRESETS = "assumption, as in every preset: no public source"
_SUSPEND = "assumption: no public source"
_TADV = "assumption: time enough to move the registers of four planes"

BEHEMOTH_DIE = NandPart(
    name="behemoth_slc",
    summary="Behemoth's 128 Gb SLC die",
    planes=8,
    blocks=683,
    pages=768,
    page_bytes=4096,
    spare_bytes=224,
    timing=NandTiming(),
    sources={
        "planes": _FAST21,
        "blocks": _FAST21,
        "pages": _FAST21,
        "page_bytes": _FAST21,
        "spare_bytes": "assumption: that of another part with 4 KiB pages, NAND16GW3D2B (Numonyx, 09/2009)",
        "clock_mhz": _FAST21 + ": 1200 MT/s",
        "tr": _FAST21,
        "tprog": _FAST21,
        "tbers": _FAST21,
        "bus": _ONFI,
        "tdbsy": _PRESETS,
        "tcbsy": _PRESETS,
        "trst": _PRESETS,
        "tfeat": "ONFI 5.1: at most 1 µs",
        "tsusp": _PRESETS,
        "tres": _PRESETS,
        "tadv": _PRESETS,
    },
)

_B17A_BUS = {
    "clock_mhz": _UT81 + ": 667 MT/s",
    "bus": _ONFI,
    "tdbsy": _PRESETS,
    "tcbsy": _PRESETS,
    "trst": _PRESETS,
    "tfeat": "ONFI 5.1: at most 1 µs",
    "tsusp": _SUSPEND,
    "tres": _SUSPEND,
    "tadv": _TADV,
}

B17A_TLC = NandPart(
    name="b17a_tlc",
    summary="512 Gb TLC die with pages of 16 KiB, as in UT81NDQ512G8T",
    planes=4,
    blocks=504,
    pages=2304,
    page_bytes=16384,
    spare_bytes=2208,
    timing=NandTiming(
        clock_mhz=333, tr=ns(88_000), tprog=ns(1_900_000), tbers=ns(15_000_000), tadv=ns(20_000)
    ),
    sources={
        "planes": _UT81,
        "blocks": _UT81,
        "pages": _UT81,
        "page_bytes": _UT81,
        "spare_bytes": _UT81,
        "tr": _UT81 + ": multi-plane READ PAGE without VPP, typical",
        "tprog": _UT81 + ": effective program page time without VPP, typical",
        "tbers": _UT81 + ": typical",
        **_B17A_BUS,
    },
)

B17A_PSLC = NandPart(
    name="b17a_pslc",
    summary="the die of b17a_tlc with one bit in each cell (pSLC)",
    planes=4,
    blocks=504,
    pages=768,
    page_bytes=16384,
    spare_bytes=2208,
    timing=NandTiming(clock_mhz=333, tr=ns(25_000), tprog=ns(300_000), tbers=ns(15_000_000), tadv=ns(20_000)),
    sources={
        "planes": _UT81,
        "blocks": _UT81,
        "pages": "derived: a third of the 2304 pages of the TLC block, one bit instead of three",
        "page_bytes": _UT81,
        "spare_bytes": _UT81,
        "tr": "assumption: as SLC cells, 25 µs (Understanding TLC NAND, AnandTech, 2012; HP, SSD technology"
        " white paper)",
        "tprog": "assumption: as the SLC mode of a 256 Gb TLC die, 300 µs (py_ssd_sim, sim_config.py)",
        "tbers": "assumption: that of the TLC block, " + _UT81,
        **_B17A_BUS,
    },
)

_OPTIMSTORE = "assumption: OptimStore (HPCA'23) evaluates pSLC dies of this kind; its table is not public"
_AS_B17A = "assumption: as b17a_pslc, no public source"

OPTIMSTORE_DIE = NandPart(
    name="optimstore_pslc",
    summary="a fast pSLC die of OptimStore's time, with pages of 16 KiB",
    planes=4,
    blocks=504,
    pages=768,
    page_bytes=16384,
    spare_bytes=2208,
    timing=NandTiming(tr=ns(30_000), tprog=ns(100_000), tbers=ns(5_000_000), tadv=ns(20_000)),
    sources={
        "planes": _AS_B17A,
        "blocks": _AS_B17A,
        "pages": _AS_B17A,
        "page_bytes": _OPTIMSTORE,
        "spare_bytes": _AS_B17A,
        "clock_mhz": "assumption: 1200 MT/s, as every preset",
        "tr": _OPTIMSTORE,
        "tprog": _OPTIMSTORE,
        "tbers": _PRESETS,
        "bus": _ONFI,
        "tdbsy": _PRESETS,
        "tcbsy": _PRESETS,
        "trst": _PRESETS,
        "tfeat": "ONFI 5.1: at most 1 µs",
        "tsusp": _PRESETS,
        "tres": _PRESETS,
        "tadv": _TADV,
    },
)

_G9 = "Micron, G9 NAND (07/2024)"

G9_SLC = NandPart(
    name="g9_slc",
    summary="a die at 3,600 MT/s with SCA, one bit in each cell and pages of 16 KiB",
    planes=4,
    blocks=504,
    pages=768,
    page_bytes=16384,
    spare_bytes=2208,
    timing=NandTiming(
        clock_mhz=1800, tr=ns(25_000), tprog=ns(300_000), tbers=ns(15_000_000), tadv=ns(20_000)
    ),
    sources={
        "planes": f"assumption: 4; {_G9} has six, and planes are a power of two here",
        "blocks": _AS_B17A,
        "pages": _AS_B17A,
        "page_bytes": _AS_B17A,
        "spare_bytes": _AS_B17A,
        "clock_mhz": _G9 + ": 3,600 MT/s",
        "tr": _AS_B17A,
        "tprog": _AS_B17A,
        "tbers": _AS_B17A,
        "sca": "assumption: no data sheet of a die of this rate is public; JESD230G (11/2024) has SCA",
        "sca_times": "assumption: CA_CLK of 100 MHz (`spec.timing`); JESD230G's times are not public",
        **{key: value for key, value in _B17A_BUS.items() if key != "clock_mhz"},
    },
    sca=True,
)

PARTS = {part.name: part for part in (BEHEMOTH_DIE, B17A_TLC, B17A_PSLC, OPTIMSTORE_DIE, G9_SLC)}
