"""One channel of chips with the asynchronous interface: how much of it their data fill."""

from dataclasses import replace

from flashtrain.host import Device
from flashtrain.spec import Chips, FmsConfig, Geometry, NandTiming
from flashtrain.spec.sdr import with_sdr_waits
from flashtrain.spec.timing import Duration, ns

from .append import append_erased
from .array_work import ArrayRecorder
from .measurement import Measurement
from .read import read_sequential

SDR_SLC = FmsConfig(
    name="sdr_slc",
    # Four chips keep up with the bus: eight pages in 200 us, where it moves one in 41.3.
    geometry=Geometry(channels=1, dies=4, planes=2, blocks=32, pages=64, page_bytes=2048, spare_bytes=64),
    # tRR is so long in cycles that a simulated die looks up its first word.
    timing=with_sdr_waits(
        NandTiming(
            clock_mhz=100, twc=ns(20), trr=Duration(6, 40), tr=ns(25_000), tprog=ns(200_000),
            tbers=ns(700_000),
        )
    ),
    write_sets=8,
    read_pages=8,
    read_queue=16,
    max_blocks=256,
    chips=Chips(ddr=False, sdr=True, sdr_mode=5, suspended_read=False, update=False),
)  # fmt: skip
"""Four SLC chips of 2 Gb behind a channel, in SDR mode 5: 50 MB/s.

Pages of 2,048 and 64 bytes, 64 in a block, two planes, tR 25 us, tPROG 200 us, tBERS 700 us: MT29F2G08ABAEA
(Micron, SLC NAND, typical times). Blocks are fewer than its 1,024 of a plane.
"""
ASKED = 0.9


def append_sdr(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """`append_erased`, by the asynchronous interface. Bound: a byte in each cycle of WE_n."""
    return _judged(append_erased(device, recorder, quick), device.config)


def read_sdr(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """`read_sequential`, by the asynchronous interface. Bound: a byte in each cycle of RE_n."""
    return _judged(read_sequential(device, recorder, quick), device.config)


def _judged(measured: Measurement, config: FmsConfig) -> Measurement:
    bound = config.net_channel_bytes_per_second / 1e9
    return replace(
        measured,
        bound=bound,
        asked=f"{ASKED:.0%} of the bound",
        met=measured.value >= ASKED * bound,
        note=measured.note.partition("; bound")[0],
    )
