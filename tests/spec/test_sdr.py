"""The SDR timing modes of the contract keep the times of the standard, which the tests have on their own."""

from dataclasses import replace

import pytest

from flashtrain.spec import ConfigError
from flashtrain.spec.presets import TINY
from flashtrain.spec.sdr import SDR_MODES, most_pad_ns, sdr_cycles, sdr_strobes
from tests.chip.sdr_times import LONGEST, MODES

CLOCKS_MHZ = (1, 24, 50, 83, 100, 166, 333, 600, 2000)


@pytest.mark.parametrize("mode", range(6))
def test_values_are_the_standards(mode):
    standard = MODES[mode] | LONGEST[mode]
    standard = {name.lower(): value for name, value in standard.items() if name != "tRHZ"}
    assert SDR_MODES[mode]._asdict() == standard


@pytest.mark.parametrize("delay", [0, 1, 4, 64])
@pytest.mark.parametrize("clock_mhz", CLOCKS_MHZ)
@pytest.mark.parametrize("mode", range(6))
def test_cycles_are_long_enough_and_no_longer(mode, clock_mhz, delay):
    least, longest = MODES[mode], LONGEST[mode]
    cycles = sdr_cycles(mode, clock_mhz, delay)
    ns = 1000 / clock_mhz

    def covers(count, *times):
        """`count` cycles are all that these need, and one fewer would not do, unless it is the only one."""
        assert count * ns >= max(times) - 1e-6
        assert count == 1 or (count - 1) * ns < max(times)

    assert cycles.write_low * ns >= max(least[name] for name in ("tWP", "tDS", "tCLS", "tALS")) - 1e-6
    assert cycles.write_high * ns >= max(least[name] for name in ("tWH", "tDH", "tCLH", "tALH")) - 1e-6
    assert (cycles.write_low + cycles.write_high) * ns >= least["tWC"] - 1e-6
    assert cycles.read_low * ns >= least["tRP"] - 1e-6
    assert (cycles.read_low - delay - 2) * ns >= longest["tREA"] - 1e-6
    assert cycles.read_high * ns >= least["tREH"] - 1e-6
    assert (cycles.read_low + cycles.read_high) * ns >= least["tRC"] - 1e-6
    between = ("tADL", "tCCS", "tWHR", "tRHW", "tAR", "tCLR", "tRR", "tCS", "tCEH")
    limits = ("tCEA", "tCHZ", "tRHZ", "tWB")
    covers(cycles.turn, *(least[name] for name in between), *(longest[name] for name in limits))


def test_an_impossible_delay_is_refused():
    with pytest.raises(ConfigError, match=r"config\.port_delay is 65; expected an integer from 0 to 64"):
        replace(TINY, port_delay=65)
    with pytest.raises(ConfigError, match=r"config\.command_port is 1; expected true or false"):
        replace(TINY, command_port=1)


@pytest.mark.parametrize("pad_ns", [0, 1, 9, 40, 200])
@pytest.mark.parametrize("clock_mhz", CLOCKS_MHZ)
@pytest.mark.parametrize("mode", range(6))
def test_an_engine_takes_a_byte_while_it_is_there(mode, clock_mhz, pad_ns):
    """Behind tREA, and before the first end of it: tRHOH from the rise of RE_n, tRLOH from the next fall.

    It comes as late as pads may make it, and ends as early as without any.
    """
    least, longest = MODES[mode], LONGEST[mode]
    strobes, ns = sdr_strobes(mode, clock_mhz, 0, pad_ns), 1000 / clock_mhz
    taken = strobes.sample * ns
    assert taken > longest["tREA"] + pad_ns + 1e-6
    assert taken < strobes.read_low * ns + least["tRHOH"] - 1e-6
    assert taken < strobes.read * ns + least["tRLOH"] - 1e-6
    assert strobes.read_low * ns >= least["tRP"] - 1e-6
    assert (strobes.read - strobes.read_low) * ns >= least["tREH"] - 1e-6
    assert strobes.read * ns >= least["tRC"] - 1e-6
    assert strobes.write_low * ns >= max(least[name] for name in ("tWP", "tDS", "tCLS", "tALS")) - 1e-6
    held = max(least[name] for name in ("tWH", "tDH", "tCLH", "tALH", "tCH"))
    assert (strobes.write - strobes.write_low) * ns >= held - 1e-6
    assert strobes.write * ns >= least["tWC"] - 1e-6
    assert (strobes.setup + strobes.write_low) * ns >= least["tCS"] - 1e-6
    assert strobes.setup * ns + taken > longest["tCEA"] + pad_ns + 1e-6
    port = sdr_cycles(mode, clock_mhz, 3, pad_ns)
    assert (port.read_low - 3 - 2) * ns >= longest["tREA"] + pad_ns - 1e-6
    assert (pad_ns <= most_pad_ns(mode, clock_mhz)) == (strobes.read == sdr_strobes(mode, clock_mhz, 0).read)
    assert sdr_strobes(mode, clock_mhz, 7, pad_ns) == strobes._replace(sample=strobes.sample + 7)


def test_the_fastest_modes_need_edo_and_few_cycles():
    """At 100 MHz mode 5 is a byte in two cycles, which comes as RE_n falls again."""
    assert tuple(sdr_strobes(5, 100, 0)) == (1, 2, 1, 2, 2, 1)
