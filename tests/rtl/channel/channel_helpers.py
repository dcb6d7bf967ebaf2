"""What the benches of the channel share: configurations that are small, and not all alike."""

import random
from dataclasses import replace

import numpy as np

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.numerics.page_randomizer import without_key
from flashtrain.rtl.layouts import PagePart
from flashtrain.sim.bench.streams import pack
from flashtrain.spec import Chips, FmsConfig, Geometry
from flashtrain.spec.presets import TINY
from flashtrain.spec.sdr import with_sdr_waits
from flashtrain.spec.timing import ns

DUAL = replace(
    TINY,
    name="dual",
    geometry=Geometry(channels=4, dies=2, planes=4, blocks=9, pages=5, page_bytes=512, spare_bytes=32),
    write_sets=5,
    read_pages=4,
    read_queue=8,
)
"""Two dies, words of one chunk, sets that are not a power of two."""

MANY_SETS = replace(DUAL, name="many_sets", write_sets=8)
"""A scan over the sets is longer than its pipeline: sets move while others are still to come."""

WIDE = replace(
    TINY,
    name="wide",
    geometry=Geometry(channels=16, dies=2, planes=2, blocks=8, pages=4, page_bytes=512, spare_bytes=32),
    write_sets=4,
    read_pages=4,
    read_queue=8,
)
"""Words of four chunks."""

UPDATING = replace(TINY, name="updating", timing=replace(TINY.timing, tprog=ns(11_500)))
"""Programs are long enough for updates beside them."""

UPDATING_PAIR = replace(DUAL, name="updating_pair", timing=replace(DUAL.timing, tprog=ns(14_000)))
"""The same with two dies on the bus."""

IMPATIENT = replace(TINY, name="impatient", late_polls=40)
"""Gives a die up within some microseconds."""

WIRED = replace(IMPATIENT, name="wired", chips=Chips(ready_busy=True))
"""With a line R/B# of each die."""

MAKER = replace(
    TINY,
    name="maker",
    chips=Chips(
        suspended_read=False, cache_program=False, program_suspend=0x84, program_resume=0x13,
        erase_suspend=0x61, erase_resume=0xD2,
    ),
)  # fmt: skip
"""Chips that a maker's commands suspend, of which these are examples."""

SCA = replace(DUAL, name="sca", chips=Chips(sca=True))
"""Commands beside the data."""

LUNS = replace(
    DUAL,
    name="luns",
    geometry=replace(DUAL.geometry, dies=4),
    chips=Chips(luns=2, suspended_read=False, update=False),
)
"""Two chip enables of two LUNs."""

LUNS_SPARES = replace(
    LUNS,
    name="luns_spares",
    geometry=replace(DUAL.geometry, blocks=11, spare_blocks=2),
    chips=replace(LUNS.chips, ready_busy=True),
)
"""One chip enable and one R/B# for both dies, and spare blocks."""

LUNS_SDR = replace(
    LUNS,
    name="luns_sdr",
    chips=replace(LUNS.chips, ddr=False, sdr=True, sdr_mode=4),
    timing=with_sdr_waits(LUNS.timing),
    port_delay=4,
)
"""The asynchronous interface, whose mode the first LUN of a chip enable sets for all."""

DUAL_SPARES = replace(
    DUAL,
    name="dual_spares",
    geometry=replace(DUAL.geometry, blocks=11, spare_blocks=2),
    chips=Chips(update=False),
)
"""Two dies with spare blocks. Without updates a die is a tenth of one with them, for the compiler."""

TINY_CODE, DUAL_CODE = (replace(one, name=f"{one.name}_code", code_strength=9) for one in (TINY, DUAL))
"""Pages are one code word."""

TINY_RETRY, DUAL_RETRY = (
    replace(one, name=f"{base.name}_retry", read_levels=levels)
    for one, base, levels in ((TINY_CODE, TINY, 3), (DUAL_CODE, DUAL, 2))
)
"""And are read again."""

SCA_RETRY = replace(TINY_RETRY, name="sca_retry", chips=Chips(sca=True))
"""Commands beside the data, and a feature among them."""

IMPATIENT_RETRY = replace(TINY_RETRY, name="impatient_retry", late_polls=IMPATIENT.late_polls)

WIDE_CODE = replace(
    WIDE,
    name="wide_code",
    geometry=replace(WIDE.geometry, page_bytes=4096, spare_bytes=224, dies=1),
    read_pages=8,
    code_strength=13,
)
"""Four code words, words of four chunks, and more page buffers than pages are corrected at once."""

DUAL_RANDOM, WIDE_RANDOM, TINY_RANDOM = (
    replace(one, name=f"{base}_random", randomizer=True)
    for base, one in (("dual", DUAL), ("wide", WIDE_CODE), ("tiny", TINY_RETRY))
)
"""Pages have keys: alone, with a code, and with all there is."""

PARTS, WIDE_PARTS = (
    replace(
        one,
        name=f"{base}parts",
        geometry=replace(one.geometry, page_bytes=2048),
        timing=replace(one.timing, tcbsy=tcbsy),
        part_bytes=size,
        chips=Chips(update=False),
    )
    for one, base, size, tcbsy in (
        (DUAL, "", 512, DUAL.timing.tr), (WIDE, "wide_", 1024, WIDE.timing.tcbsy)
    )
)  # fmt: skip
"""Reads name parts of a page: four of two dies, and two of words of four chunks. Only the second senses lone
pages ahead."""

SCA_PARTS = replace(PARTS, name="sca_parts", chips=Chips(sca=True, update=False))

SET_CONFIGS = {one.name: one for one in (TINY, DUAL, MANY_SETS)}
CONFIGS: dict[str, FmsConfig] = {
    config.name: config
    for config in (
        TINY, DUAL, WIDE, TINY_CODE, DUAL_CODE, WIDE_CODE, TINY_RETRY, DUAL_RETRY, TINY_RANDOM, DUAL_RANDOM,
        WIDE_RANDOM, SCA, SCA_RETRY,
    )
}  # fmt: skip
EVERY_CONFIG = {
    **CONFIGS,
    **{
        config.name: config
        for config in (
            IMPATIENT, WIRED, IMPATIENT_RETRY, MAKER, UPDATING, UPDATING_PAIR, DUAL_SPARES, LUNS,
            LUNS_SPARES, LUNS_SDR, PARTS, WIDE_PARTS, SCA_PARTS,
        )
    },
}  # fmt: skip


def a_part(config: FmsConfig, before: int, behind: int, target: int = 0) -> tuple[dict[str, int], slice]:
    """The fields of a read of a page without so many parts before and behind, and its words."""
    count = config.page_parts
    words = config.page_beats // count
    if count == 1:
        return {}, slice(0, words)
    part = pack(PagePart(config), before=before, behind=behind, target=target)
    return {"part": part}, slice(before * words, (count - behind) * words)


def some_part(config: FmsConfig) -> tuple[dict[str, int], slice]:
    """The same of a random part, or of a whole page."""
    count = config.page_parts
    before = random.randrange(count)
    behind = random.randrange(count - before)
    if random.random() < 0.3:
        before = behind = 0
    return a_part(config, before, behind, random.randrange(count))


def with_key(config: FmsConfig, data: bytes, page: int, plane: int) -> bytes:
    """Data and identity as they are stored, or the other way round."""
    return without_key(config.geometry, data, page, plane) if config.randomizer else data


def with_parity(config: FmsConfig, data: bytes) -> bytes:
    """What crosses the bus: data and identity, and parity if there is a code."""
    if config.code is None:
        return data
    return PageCodec(config.code).encode(np.frombuffer(data, np.uint8)).tobytes()
