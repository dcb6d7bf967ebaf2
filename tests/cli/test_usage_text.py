"""The lines on a device's work after a training: figures that have a meaning, or the reason why not."""

import pytest

from flashtrain.cli.usage_text import usage_document, usage_text
from flashtrain.perf.usage import Usage
from flashtrain.spec import preset
from flashtrain.spec.registers import ChannelCounter, Counter
from flashtrain.training.flash_training import FlashRun
from flashtrain.training.player import Playback
from flashtrain.training.sequence import StreamRole
from flashtrain.training.traffic import Traffic

TINY = preset("tiny")
APPENDED = 100


def lines(programmed: int, appended: int = APPENDED, seconds: float = 1e-3, erases: int = 0):
    """By their first words, of a run with so many pages and erases of a die's zones; and the document."""
    stored = appended * TINY.geometry.page_bytes
    traffic = Traffic(appends=1, appended_bytes=stored, stored_bytes=stored)
    run = FlashRun({StreamRole.INPUTS: traffic}, None, Playback(0, 0, 0))
    front_end = {counter.name: 0 for counter in Counter}
    front_end[Counter.CYCLES.name] = round(seconds * TINY.timing.clock_hz)
    channels = {counter.name: 0 for counter in ChannelCounter}
    channels[ChannelCounter.PAGES_PROGRAMMED.name] = programmed
    channels[ChannelCounter.ERASES.name] = erases
    usage = Usage(TINY, front_end, channels)
    text = usage_text(usage, run).splitlines()
    return {line[:20].strip(): line[20:].strip() for line in text}, usage_document(usage, run)


def test_write_amplification():
    text, document = lines(programmed=150)
    assert text["write amplification"].startswith("1.500 (pages programmed per page appended")
    assert document["write_amplification"] == 1.5


def test_pages_that_never_left_the_buffers():
    """Less than one program per page is no amplification."""
    text, document = lines(programmed=83)
    assert text["write amplification"].startswith("n/a: only 83.0% of the appended pages were programmed")
    assert document["write_amplification"] is None and document["programmed_per_appended"] == 0.83


def test_nothing_appended():
    text, document = lines(programmed=0, appended=0)
    assert text["write amplification"] == "n/a: nothing was appended"
    assert text["endurance"] == "n/a: nothing was programmed or erased"
    assert document["write_amplification"] is None is document["days_of_endurance"]


def test_endurance_is_in_a_unit_that_suits_it():
    """`tiny` is used up within minutes: 50,000 times its pages in the years class."""
    g = TINY.geometry
    pages = g.channels * g.dies * g.planes * g.zones * g.pages
    text, document = lines(programmed=pages, seconds=1e-3)  # the whole device in a millisecond
    assert "50.0 seconds in the years retention class" in text["endurance"]
    assert "33.3 minutes in the minutes retention class" in text["endurance"]
    assert document["days_of_endurance"]["years"] == pytest.approx(50_000 * 1e-3 / 86_400)


def test_endurance_counts_erases():
    """Zones that are erased before they are full wear their blocks as full ones do."""
    g = TINY.geometry
    zones = g.channels * g.dies * g.zones
    _text, document = lines(programmed=zones * g.planes, seconds=1e-3, erases=zones)  # a row of each
    assert document["days_of_endurance"]["years"] == pytest.approx(50_000 * 1e-3 / 86_400)
