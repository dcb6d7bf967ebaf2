"""A drive on PCI Express behind the simulated controller: its data, and its rates beside those without it."""

import numpy as np
import pytest

from flashtrain.cli.main import main
from flashtrain.cli.pcie_drive import DATA, DriveError, PcieDrive
from flashtrain.cli.pcie_rates import NODE, NSID
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import Opcode, preset

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
    assert 2 <= drive.link.take_messages() <= 4
    # The last block of a zone, and the first ones that nobody has written: zeros, and no byte beyond them.
    memory, size = drive.link.memory, g.page_bytes
    memory[out : out + 5 * size] = 0xA5
    drive.do([(Opcode.READ, NSID, 15, 4, out)], most)
    assert memory[out : out + size].tobytes() == data[15 * size : 16 * size].tobytes()
    assert not memory[out + size : out + 4 * size].any() and (memory[out + 4 * size :][:size] == 0xA5).all()
    with pytest.raises(DriveError, match="0x80"):
        drive.do([(Opcode.READ, NSID, 2 << 32, 1, out)], most)


def test_rates_are_those_without_it(tmp_path, capsys):
    names = "pcie_append", "pcie_command_time_write", "pcie_latency_write", "pcie_latency_read"
    output = str(tmp_path / "results.json")
    assert main(["bench", *names, "--preset", "tiny", "--quick", "--strict", "--output", output]) == 0
    assert "without PCI Express" in capsys.readouterr().out
