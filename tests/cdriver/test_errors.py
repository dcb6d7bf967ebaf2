"""Misuse of the C driver, devices that do not answer, and flashes that it refuses to recover."""

from copy import deepcopy

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import Port, ZoneAction, preset
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.registers import Register, State
from flashtrain.spec.streams import ACTIVATION_NODE, SINGLE_NODE, UPDATE_NODE

from .both_drivers import flash_of
from .driver import CDriver, DriverError, Error, Request, streams_of
from .library import Commit, Requirements, Step, Tile

TINY = preset("tiny")
BLOCK = TINY.geometry.page_bytes
HOST, CORE = Port.HOST, Port.CORE


def refused(do, error):
    with pytest.raises(DriverError) as raised:
        do()
    assert raised.value.error is error


class MuteLink(FunctionalLink):
    """A device that fetches nothing while it is mute."""

    mute = fatal = False

    def _work(self):
        if not self.mute:
            super()._work()

    def _state(self):
        return super()._state() | (State.FATAL if self.fatal else State(0))


@pytest.fixture
def mute():
    link = MuteLink(TINY, 1 << 18)
    driver = CDriver(link, command_polls=20, state_polls=20)
    driver.do("ft_format", True)
    link.mute = True
    return link, driver


def test_a_command_without_answer_ends(mute):
    link, driver = mute
    data = np.ones(BLOCK, np.uint8)
    refused(lambda: driver.append(HOST, 1, 0, data), Error.TIMEOUT)
    request = Request()
    driver.do("ft_submit_read", request, CORE, 1, 0, driver.data, 1)
    refused(lambda: driver.do("ft_wait", request), Error.TIMEOUT)
    refused(lambda: driver.do("ft_drain"), Error.TIMEOUT)
    link.fatal = True
    refused(lambda: driver.do("ft_wait", request), Error.FATAL)
    link.fatal = link.mute = False
    # The answers come late: that of the append is nobody's by now.
    driver.do("ft_flush", HOST, 1)
    driver.do("ft_drain")
    assert request.done
    assert driver.append(HOST, 1, 0, data) == 1


def test_a_full_queue_without_answers_ends(mute):
    _, driver = mute
    requests = [Request() for _ in range(15)]
    for request in requests:
        driver.do("ft_submit_flush", request, HOST, 1)
    refused(lambda: driver.do("ft_submit_flush", Request(), HOST, 1), Error.BUSY)
    refused(lambda: driver.do("ft_flush", HOST, 1), Error.TIMEOUT)


def test_a_record_without_answer_blocks_later_ones(mute):
    """The device may still read the record from the driver's memory."""
    link, driver = mute
    refused(lambda: driver.do("ft_stream_reset", HOST, 1), Error.TIMEOUT)
    link.mute = False
    refused(lambda: driver.do("ft_stream_reset", HOST, 1), Error.TIMEOUT)
    driver.do("ft_disable")
    link.power_cycle()
    driver.recover()
    driver.do("ft_stream_reset", HOST, 1)


def test_a_controller_that_does_not_become_ready():
    class StuckLink(FunctionalLink):
        def _state(self):
            return State(0)

    driver = CDriver(StuckLink(TINY, 1 << 18), state_polls=20)
    refused(lambda: driver.do("ft_format", True), Error.TIMEOUT)
    refused(lambda: driver.do("ft_flush", HOST, 1), Error.DISABLED)


def test_a_forged_completion_is_found(driver, link):
    completions = 16 * 64  # behind the host's submission queue
    link.memory[completions + 12] = 5
    link.memory[completions + 14] = 1
    refused(lambda: driver.do("ft_poll"), Error.PROTOCOL)


def test_another_device_is_a_mismatch():
    class OtherLink(FunctionalLink):
        def read_register(self, address):
            return 7 if address == self.wrong else super().read_register(address)

    for wrong in (Register.ID, Register.VERSION):
        link = OtherLink(TINY, 1 << 18)
        link.wrong = wrong
        refused(lambda link=link: CDriver(link), Error.MISMATCH)


def test_misuse_is_an_argument_error(driver):
    data, end = driver.data, len(driver.link.memory)
    cases = [
        ("ft_append", HOST, 1, 0, data, 0, None),
        ("ft_append", HOST, 1, 0, data, TINY.max_blocks + 1, None),
        ("ft_append", HOST, 1, 0, data + 1, 1, None),
        ("ft_append", HOST, 1, 0, data - BLOCK, 1, None),
        ("ft_append", HOST, 1, 0, end, 1, None),
        ("ft_append", HOST, 1, 0, (1 << 64) - BLOCK, 1, None),
        ("ft_append", 2, 1, 0, data, 1, None),
        ("ft_append", HOST, 9, 0, data, 1, None),
        ("ft_append", HOST, 0, 0, data, 1, None),
        ("ft_append", HOST, 8, 0, data, 1, None),
        ("ft_read", HOST, 8, 0, data, 1),
        ("ft_flush", HOST, 8),
        ("ft_stream_reset", HOST, 8),
        ("ft_zone_reset", HOST, 8, 0),
        ("ft_zone_reset", HOST, 1, 2),
        ("ft_zone_manage", HOST, 1, 0, ZoneAction.RESET),
        ("ft_zone_retire", HOST, 8, 0, 0xD),
        ("ft_pin", HOST, 8, True),
        ("ft_annotate", 8, b"x", 1),
        ("ft_annotate", 1, None, 1),
        ("ft_report", HOST, 1, 1, Request(), 2),
        ("ft_commit", CORE, 5, 8, Commit()),
        ("ft_commit", CORE, 5, 6, None),
        ("ft_commit", CORE, 5, 6, Commit(note_bytes=3)),
        ("ft_commit", CORE, 5, 6, Commit(release=8)),
        ("ft_declare_committed", 5, Commit(pin=True)),
        ("ft_tile_of", Step(code=len(OptimizerCode)), Tile()),
        ("ft_tile_of", Step(weight_format=2), Tile()),
        ("ft_tile_of", Step(moment_format=3), Tile()),
        ("ft_tile_of", Step(rounding=2), Tile()),
        ("ft_tile_of", Step(rounding_key=1 << 48), Tile()),
        ("ft_tile_of", Step(weight_format=1, gradient_format=2, copy_format=1), Tile()),
        ("ft_tile_of", Step(weight_format=1), Tile()),
        ("ft_update", CORE, 6, 5, 0, 0, Tile(gradient_pages=9), 1, data, None),
        ("ft_update", CORE, 6, 5, 0, 0, Tile(gradient_pages=1), 0, data, None),
        ("ft_update", CORE, 6, 5, 0, 0, Tile(gradient_pages=1, copy_pages=2), 1, data, None),
        ("ft_update", CORE, 6, 5, 0, 0, Tile(gradient_pages=2), 1 << 31, data, None),
        ("ft_update", CORE, 6, 5, 0, 6, Tile(gradient_pages=1), 1, data, None),
        ("ft_set_constants", CORE, 6, Step(page=6), data),
        ("ft_commit", CORE, 5, 6, Commit(page=6)),
        ("ft_submit_append", None, HOST, 1, 0, data, 1),
        ("ft_wait", None),
    ]  # fmt: skip
    for name, *arguments in cases:
        refused(lambda name=name, arguments=arguments: driver.do(name, *arguments), Error.ARGUMENT)
    assert flash_of(driver.link) == [[] for _ in range(TINY.geometry.zones)]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"queue_entries": 1}, Error.ARGUMENT),
        ({"queue_entries": 65}, Error.ARGUMENT),
        ({"command_polls": 0}, Error.ARGUMENT),
        ({"stream_count": 0}, Error.ARGUMENT),
        ({"note_bytes": 1 << 20}, Error.NOTE_TOO_LONG),
        ({"scratch_bytes": 1 << 20}, Error.MEMORY),
    ],
)
def test_impossible_configurations(options, error):
    driver = CDriver(FunctionalLink(TINY, 1 << 18))
    for name, value in options.items():
        setattr(driver.config, name, value)
    work = driver._work

    def init():
        driver.call("ft_init", driver._device, driver.platform, driver.config, work, len(work))

    refused(init, error)


def test_impossible_streams():
    driver = CDriver(FunctionalLink(TINY, 1 << 18))
    for change in ({"nsid": 0}, {"nsid": 9}, {"nsid": 1}, {"share": 1}, {"core": 1}, {"codec": 1}):
        streams = streams_of(UPDATE_NODE)
        for name, value in change.items():
            setattr(streams[len(streams) - 1], name, value)  # the journal
        driver.config.streams = streams
        refused(
            lambda: driver.call("ft_requirements", driver.info, driver.config, Requirements()), Error.ARGUMENT
        )


def test_too_little_work_memory(driver):
    less = driver.needed.work_bytes - 1
    refused(
        lambda: driver.call("ft_init", driver._device, driver.platform, driver.config, driver._work, less),
        Error.MEMORY,
    )


def test_commands_need_an_enabled_controller(link):
    driver = CDriver(link)
    for name, *arguments in (
        ("ft_append", HOST, 1, 0, driver.data, 1, None),
        ("ft_stream_reset", HOST, 1),
        ("ft_commit", CORE, 6, 5, Commit()),
        ("ft_annotate", 1, b"x", 1),
        ("ft_pin", CORE, 3, True),
        ("ft_poll",),
        ("ft_shutdown",),
    ):
        refused(lambda name=name, arguments=arguments: driver.do(name, *arguments), Error.DISABLED)


def test_recovery_of_an_enabled_controller_is_refused(driver):
    refused(driver.recover, Error.ENABLED)
    driver.do("ft_flush", HOST, 1)


def test_notes(driver):
    driver.do("ft_annotate", 1, b"a" * 200, 200)
    driver.do("ft_annotate", 3, b"b" * 56, 56)
    refused(lambda: driver.do("ft_annotate", 5, b"c", 1), Error.NOTE_TOO_LONG)
    driver.do("ft_annotate", 1, b"d", 1)
    driver.do("ft_annotate", 5, b"c" * 199, 199)
    assert [driver.entry(nsid)[1] for nsid in (1, 3, 5)] == [b"d", b"b" * 56, b"c" * 199]
    refused(lambda: driver.do("ft_annotate", 2, b"c", 1), Error.NO_JOURNAL)


def untouched(link, error, node=UPDATE_NODE, **options):
    """Recovery is refused, and the flash stays as it was."""
    link.power_cycle()
    before = deepcopy(flash_of(link))
    driver = CDriver(link, node, **options)
    refused(driver.recover, error)
    assert flash_of(link) == before
    assert link.read_register(Register.CONTROL) == 0
    return driver


def test_content_of_another_node(link):
    with open_device(link=link, node=SINGLE_NODE) as device:
        device.stream("trained").append(np.ones(BLOCK, np.uint8))
        device.stream("inputs", HOST).reset()
    driver = untouched(link, Error.FOREIGN_CONTENT, ACTIVATION_NODE)
    driver.do("ft_format", False)
    assert driver.append(HOST, 1, 0, np.ones(BLOCK, np.uint8)) == 0


def test_notes_that_are_too_long_for_its_memory(link):
    with open_device(link=link, node=UPDATE_NODE) as device:
        device.stream("inputs", HOST).annotate(bytes(300))
    untouched(link, Error.JOURNAL_TOO_LONG)
    driver = CDriver(link, note_bytes=300)
    driver.recover()
    assert driver.entry(1)[1] == bytes(300)


def test_a_record_of_many_blocks_is_too_long(link):
    with open_device(link=link, node=UPDATE_NODE) as device:
        device.stream("inputs", HOST).annotate(bytes(3000))
    untouched(link, Error.JOURNAL_TOO_LONG, note_bytes=0)


def test_a_damaged_journal(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    driver.do("ft_annotate", 1, b"a", 1)
    driver.do("ft_annotate", 1, b"b", 1)
    (journal,) = (zone for zone in link._flash.zones if zone)
    for page in range(len(journal)):
        spoilt = bytearray(journal[page].data)
        spoilt[50] ^= 1
        journal[page] = journal[page]._replace(data=bytes(spoilt))
    untouched(link, Error.JOURNAL_DAMAGED)


def test_pointers_may_be_missing(driver):
    for name in ("ft_format", "ft_recover", "ft_shutdown", "ft_disable", "ft_poll"):
        arguments = {"ft_format": [True], "ft_recover": [None]}.get(name, [])
        refused(lambda name=name, arguments=arguments: driver.call(name, None, *arguments), Error.ARGUMENT)
