"""The formulas beside PCcheck's public measurements of VGG16 (its artifact, figures 8 and 9).

The inputs are not these results. The rate of the drive is that of a checkpoint that was written alone. CheckFreq's
file is that of the run at 10 iterations, its snapshot that of the step after a save.
"""

import pytest

from flashtrain.checkpoint.interval.failures import PUBLISHED_FAILURES
from flashtrain.checkpoint.systems import CheckFreq, PCcheck, TrainingJob

GB = 10**9
PARAMETERS = 138_357_544
VGG16 = TrainingJob(8 * PARAMETERS, 4 * PARAMETERS, 0, iteration_seconds=1 / 15.769, update_seconds=0.002)
"""With the momentum of SGD; 276.7 M floats in the artifact's log."""

DRIVE = VGG16.state_bytes / 1.427
"""A checkpoint alone: "MSYNC TOOK 1426.6 ms"."""
SNAPSHOT = VGG16.state_bytes / 0.68
"""The step after a save took 0.74 s."""
FILE = VGG16.state_bytes / (10 / 2.9386 - 0.68)
"""Every tenth iteration: 2.94 iterations a second."""

PCCHECK = PCcheck(12 * GB, DRIVE, DRIVE, 4)
CHECKFREQ = CheckFreq(SNAPSHOT, FILE, DRIVE)


@pytest.mark.parametrize(
    ("system", "interval", "published"),
    [
        (PCCHECK, 10, 6.350), (PCCHECK, 25, 14.273), (PCCHECK, 50, 15.526),
        (CHECKFREQ, 25, 7.042), (CHECKFREQ, 50, 12.187),
    ],
)  # fmt: skip
def test_iterations_a_second(system, interval, published):
    assert interval / system.cycle_seconds(VGG16, interval) == pytest.approx(published, rel=0.11)


def test_writes_beside_others():
    """Four at once: "MSYNC TOOK" 5.1 to 6.6 s."""
    assert 5.1 < PCCHECK.write_seconds(VGG16) < 6.6


@pytest.mark.parametrize(
    ("interval", "throughput", "published"),
    [(10, 2.938627628113705, 2.9218082347356775), (25, 7.042363043171207, 6.976672784383198)],
)
def test_pcchecks_own_goodput(interval, throughput, published):
    """CheckFreq in figure 9: all of an interval is repeated, and 51 failures are in 13,482 s."""
    lost = PUBLISHED_FAILURES * (interval / 15.742874314174914 + 0.881171464920044) / 13_482
    assert throughput * (1 - lost) == pytest.approx(published, rel=2e-3)
