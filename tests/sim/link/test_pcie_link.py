"""A drive on PCI Express behind the simulated controller: its data, and its rates beside those without it."""

import numpy as np
import pytest

from flashtrain.cli.main import main
from flashtrain.cli.pcie_drive import DATA, SERIAL, DriveError, PcieDrive
from flashtrain.cli.pcie_rates import NODE, NSID
from flashtrain.nvme.subsystem.events import Event
from flashtrain.nvme.subsystem.features import DULBE, Feature
from flashtrain.nvme.subsystem.health import HealthField
from flashtrain.nvme.subsystem.identify import Identify, Structure
from flashtrain.nvme.subsystem.log_format import LogPage
from flashtrain.nvme.subsystem.namespaces import namespaces_of, transfer_exponent
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import Opcode, preset
from flashtrain.spec.pcie import DOORBELLS

TINY = preset("tiny")
SIZES = PcieSizes.of(TINY)


@pytest.fixture
def drive():
    link = PcieLink(TINY, SIZES)
    yield PcieDrive(link, NODE, SIZES)
    link.close()


def test_data_come_back_in_their_pages(drive):
    g, most = TINY.geometry, 100_000
    data = np.random.default_rng(3).integers(0, 256, 2 * 16 * g.page_bytes, np.uint8)
    drive.link.memory[DATA : DATA + len(data)] = data
    half = len(data) // 2
    appends = [(Opcode.ZONE_APPEND, NSID, zone * g.zone_size, 16, DATA + half * zone) for zone in range(2)]
    drive.link.run(20)  # until the message of the last admin command
    drive.link.take_messages()
    assert sorted(answer.result for answer in drive.do(appends, most)) == [0, g.zone_size]
    out = DATA + (1 << 20)
    reads = [(Opcode.READ, NSID, zone * g.zone_size, 16, out + half * zone) for zone in (1, 0)]
    drive.do(reads, most)
    assert drive.link.memory[out : out + len(data)].tobytes() == data.tobytes()
    assert 2 <= len(drive.link.take_messages()) <= 4
    # The last block of a zone, and the first ones that nobody has written: zeros, and no byte beyond them.
    memory, size = drive.link.memory, g.page_bytes
    memory[out : out + 5 * size] = 0xA5
    drive.do([(Opcode.READ, NSID, 15, 4, out)], most)
    assert memory[out : out + size].tobytes() == data[15 * size : 16 * size].tobytes()
    assert not memory[out + size : out + 4 * size].any() and (memory[out + 4 * size :][:size] == 0xA5).all()
    with pytest.raises(DriveError, match="0x80"):
        drive.do([(Opcode.READ, NSID, 2 << 32, 1, out)], most)


def test_its_firmware_answers_as_the_target(drive):
    """Identify and log pages in the host's memory, features that act on the RTL, events, a deleted queue."""
    memory, most = drive.link.memory, 100_000
    namespaces = namespaces_of(TINY, NODE, SERIAL)
    settings = SubsystemSettings(queues=SIZES.queues, entries=SIZES.entries)
    limits = TINY.max_open, TINY.max_active
    exponent = transfer_exponent(TINY, SIZES.most_bytes)
    identify = Identify(settings, SERIAL, namespaces, exponent, limits, lambda: (1,))
    asked = (Structure.CONTROLLER, 0), (Structure.NAMESPACE, 1), (Structure.NAMESPACE_OF_SET, 1)
    for structure, nsid in asked:
        memory[DATA : DATA + 8192] = 0xA5
        answer = drive.administer(AdminOpcode.IDENTIFY, DATA, structure, 2 << 24, nsid)
        entry = Entry(AdminOpcode.IDENTIFY, nsid=nsid, dword_10=structure, dword_11=2 << 24)
        assert answer.status == 0
        assert memory[DATA : DATA + 4096].tobytes() == identify.reply(entry, 1, PCIE).data
        assert (memory[DATA + 4096 : DATA + 8192] == 0xA5).all()
    drive.do([(Opcode.ZONE_APPEND, NSID, 0, 3, DATA)], most)
    # A page that begins and ends within a beat: the bytes at both sides stay.
    memory[DATA - 8 : DATA + 528] = 0xA5
    answer = drive.administer(AdminOpcode.GET_LOG_PAGE, DATA + 4, LogPage.HEALTH | 127 << 16)
    page = memory[DATA + 4 : DATA + 516].tobytes()
    assert answer.status == 0 and page[HealthField.SPARE] == 100 and page[HealthField.WRITES] == 1
    assert page[HealthField.WRITTEN] == 1
    assert (memory[DATA - 8 : DATA + 4] == 0xA5).all() and (memory[DATA + 516 : DATA + 528] == 0xA5).all()
    # DULBE, and an event for a doorbell of no queue.
    chosen = drive.administer(AdminOpcode.SET_FEATURES, 0, Feature.ERROR_RECOVERY, DULBE, 1)
    assert chosen.status == 0
    with pytest.raises(DriveError, match="0x287"):
        drive.do([(Opcode.READ, NSID, 5, 1, DATA)], most)
    drive.link.access(DOORBELLS + 8 * 30, 1)
    answer = drive.administer(AdminOpcode.ASYNC_EVENT_REQUEST)
    assert (answer.status, answer.result) == (0, Event.WRONG_DOORBELL)
    statuses = [
        drive.administer(opcode, 0, 1).status
        for opcode in (AdminOpcode.DELETE_CQ, AdminOpcode.DELETE_SQ, AdminOpcode.DELETE_CQ)
    ]
    assert statuses == [TargetStatus.INVALID_QUEUE_DELETION, 0, 0]


def test_rates_are_those_without_it(tmp_path, capsys):
    names = "pcie_append", "pcie_command_time_write", "pcie_latency_write", "pcie_latency_read"
    output = str(tmp_path / "results.json")
    assert main(["bench", *names, "--preset", "tiny", "--quick", "--strict", "--output", output]) == 0
    assert "without PCI Express" in capsys.readouterr().out
