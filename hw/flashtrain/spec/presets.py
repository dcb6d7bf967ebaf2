"""Named configurations."""

from dataclasses import replace

from .chips import Chips
from .config import FmsConfig
from .errors import ConfigError
from .geometry import Geometry
from .parts import G9_SLC, OPTIMSTORE_DIE
from .timing import NandTiming, ns

TINY = FmsConfig(
    name="tiny",
    geometry=Geometry(channels=2, dies=1, planes=2, blocks=16, pages=6, page_bytes=512, spare_bytes=32),
    # Array times are shortened, so that a unit test sees many programs and erases.
    timing=NandTiming(
        tr=ns(1_000),
        tprog=ns(4_000),
        tbers=ns(10_000),
        tcbsy=ns(500),
        trst=ns(1_000),
        tsusp=ns(200),
        tres=ns(200),
        tadv=ns(800),
    ),
    write_sets=3,
    read_pages=2,
    read_queue=4,
    commands=8,
    max_blocks=16,
    max_open=2,
    max_active=3,
)
"""Unit tests and Icarus."""

SMALL = FmsConfig(
    name="small",
    geometry=Geometry(channels=4, dies=2, planes=4, blocks=32, pages=64),
    # A block has 64 pages instead of 768: the erase is shortened as much, which keeps the ratio of erasing to
    # programming a zone that the table has.
    timing=NandTiming(tbers=ns(5_000_000 * 64 / 768)),
    write_sets=4,
    read_pages=4,
    read_queue=16,
    # With half the planes of `behemoth` an interval of 3 keeps up with SGD, too.
    update_interval=3,
)
"""The default run."""

BEHEMOTH = FmsConfig(
    name="behemoth",
    geometry=Geometry(channels=64, dies=2, planes=8, blocks=683, pages=768),
    timing=NandTiming(),
    write_sets=4,
    read_pages=8,
    read_queue=32,
    # A read of one block takes some 8 us, and there is room on the buses for one every 32 cycles. Reads at
    # random fall on some dies more than on others, so that four times as many keep the buses at work.
    commands=1024,
    max_blocks=16384,
    # With an interval of 2 a tile of Adam's state in 16 bits is computed within tPROG.
    update_interval=2,
)
"""Behemoth's table (FAST'21): 64 channels x 2 chips x 1 die, 2 TB; 160 KiB of buffer a channel."""

BEHEMOTH_WIDE = replace(
    BEHEMOTH, name="behemoth_wide", geometry=replace(BEHEMOTH.geometry, dies=4), write_sets=8
)
"""Twice the dies on the same channels."""


def _reliable(config: FmsConfig, strength: int, spare_blocks: int) -> FmsConfig:
    g = config.geometry
    geometry = replace(g, blocks=g.blocks + spare_blocks, spare_blocks=spare_blocks)
    return replace(
        config,
        name=f"{config.name}_ecc",
        geometry=geometry,
        code_strength=strength,
        read_levels=3,
        randomizer=True,
    )


# Strengths are what `spec.ecc.needed_strength` says; `tiny` has room for one less.
# Spares: 2 % of the blocks, what data sheets let be bad; the small ones have more, so that there is something
# to choose.
TINY_ECC, SMALL_ECC, BEHEMOTH_ECC = (
    _reliable(TINY, 9, 2),
    _reliable(SMALL, 13, 2),
    _reliable(BEHEMOTH, 13, 14),
)
"""The same with error correction and a randomizer, in channels and dies, and with spare blocks beyond those
of the zones.

Parity takes 2.3 % of a bus (`tiny`: 2.9 %). The errors of old data become fewer for as many steps of the read
level."""

TINY_CODEC, SMALL_CODEC, BEHEMOTH_CODEC = (
    replace(config, name=f"{config.name}_codec", codec=True) for config in (TINY, SMALL, BEHEMOTH)
)
"""The same with a codec in the data path (`spec.codec`)."""

OPTIMSTORE = FmsConfig(
    name="optimstore",
    geometry=Geometry(channels=8, dies=4, **OPTIMSTORE_DIE.geometry()),
    timing=OPTIMSTORE_DIE.timing,
    write_sets=8,
    read_pages=8,
    read_queue=32,
    max_blocks=4096,
    # The update unit has the clock of OptimStore's processing elements: a word is four transfers of the bus.
    # With an interval of 2 a tile of Adam's state in 16 bits is computed within tPROG, too.
    update_interval=2,
    update_divider=2,
)
"""A device as OptimStore (HPCA'23) has it: 8 channels x 4 pSLC dies, 812 GB; 640 KiB of buffer a channel.

Its counts of channels and dies are assumptions; so are the values of its part (`spec.parts`)."""

G9 = FmsConfig(
    name="g9_slc",
    geometry=Geometry(channels=64, dies=8, **G9_SLC.geometry()),
    timing=G9_SLC.timing,
    write_sets=16,
    read_pages=8,
    read_queue=32,
    commands=256,
    max_blocks=4096,
    update_interval=2,
    update_divider=6,
    chips=Chips(sca=True),
)
"""Dies of 2026 at 3,600 MT/s with SCA: 64 channels x 8 dies, 13 TB; 1,152 KiB of buffer a channel.

Its values are those of its part (`spec.parts`), or assumptions."""

G9_DRIVE = replace(G9, name="g9_drive", geometry=replace(G9.geometry, channels=16))
"""The same dies on 16 channels, as drives have: 3.2 TB."""

PRESETS = {
    config.name: config
    for config in (
        TINY,
        SMALL,
        BEHEMOTH,
        BEHEMOTH_WIDE,
        OPTIMSTORE,
        G9,
        G9_DRIVE,
        TINY_ECC,
        SMALL_ECC,
        BEHEMOTH_ECC,
        TINY_CODEC,
        SMALL_CODEC,
        BEHEMOTH_CODEC,
    )
}


def preset(name: str) -> FmsConfig:
    """The preset called `name`; :class:`ConfigError` names the known ones."""
    if name not in PRESETS:
        raise ConfigError(f"no preset {name!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[name]
