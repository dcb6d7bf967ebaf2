"""The command port of the C driver: the same chips as under the Python driver, and every end of a wait."""

from dataclasses import replace

import pytest

from flashtrain.host import FunctionalLink
from flashtrain.spec.presets import TINY
from flashtrain.spec.registers import Register
from tests.chip.onfi_chip import OnfiChip
from tests.chip.port_link import PortLink

from .driver import DriverError, Error
from .ports import CPort

CONFIG = replace(TINY, name="ported", geometry=replace(TINY.geometry, dies=2), command_port=True)


@pytest.fixture
def port():
    link = PortLink(CONFIG)
    return CPort(link)


def refused(error, do):
    with pytest.raises(DriverError) as raised:
        do()
    assert raised.value.error is error


def test_a_chip_is_started(port):
    link = port.link
    link.busy_reads = 3
    port.begin()
    port.select(1, 1)
    chip = link.chips[1][1]
    port.command(0xFF)
    port.wait(10_000)
    port.command(0x90)
    port.address(0x20)
    assert port.take(4) == b"ONFI"
    port.command(0xEF)
    port.address(0x01)
    port.write(bytes([3, 0, 0, 0]), 4)
    port.wait(100)
    port.mode(3)
    port.command(0xEE)
    port.address(0x01)
    port.wait(100)
    assert port.take(4) == bytes([3, 0, 0, 0])
    assert chip.commands == [0xFF, 0x90, 0xEF, 0xEE] and link.mode == 3
    assert not any(one.commands for chips in link.chips for one in chips if one is not chip)
    port.close()
    assert link.pauses == 0 and link.read_register(Register.CONTROL) == 0


def test_an_enabled_device_goes_on(port):
    port.driver.do("ft_format", True)
    port.begin()
    port.select(0, 0)
    port.close()
    assert port.link.pauses == 0 and port.link.read_register(Register.CONTROL) & 1


def test_waits_end(port):
    port.begin()
    port.link.chips[0][0] = OnfiChip(never_ready=True)
    port.select(0, 0)
    port.command(0xFF)
    refused(Error.TIMEOUT, lambda: port.wait(50))
    port.link.busy_reads = 1_000_000
    refused(Error.TIMEOUT, lambda: port.command(0x70))
    port.link.busy_reads = port.link._busy = 0
    port.link.never_pauses = True
    refused(Error.TIMEOUT, lambda: port.select(0, 1))


def test_arguments_are_checked(port):
    refused(Error.ARGUMENT, lambda: port.command(0xFF))  # not open
    port.begin()
    refused(Error.ARGUMENT, lambda: port.select(2, 0))
    refused(Error.ARGUMENT, lambda: port.select(0, 2))
    refused(Error.ARGUMENT, lambda: port.mode(6))
    refused(Error.ARGUMENT, lambda: port.interface(6, True))
    refused(Error.ARGUMENT, lambda: port.driver.call("ft_bring_up", port.state, None, None, 4))
    refused(Error.ARGUMENT, lambda: port.read(None, 4))
    refused(Error.ARGUMENT, lambda: port.open(port.driver.platform, 0))
    port.begin()
    port.close()
    refused(Error.ARGUMENT, port.close)


def test_another_device():
    class Other(FunctionalLink):
        def read_register(self, address):
            return 7 if address == Register.ID and self.other else super().read_register(address)

    link = Other(CONFIG, 1 << 20)
    link.other = False
    port = CPort(link)
    link.other = True
    refused(Error.MISMATCH, port.begin)
