"""A device that stops: each command has an answer, no end is called orderly, and power brings it back."""

import pytest

from flashtrain.nvme.errors import CommandFailed, DeviceStopped
from flashtrain.nvme.wire.statuses import TargetStatus
from tests.nvme.helpers import BLOCK, Served, served

_FATAL = 1 << 1


@pytest.fixture
def target():
    with served() as running:
        yield running


def breaking(target: Served, monkeypatch, name: str) -> None:
    """Let a method of the device fail."""

    def fail(*_: object) -> None:
        raise RuntimeError(f"{name} is broken")

    monkeypatch.setattr(target.target.subsystem.thread.device, name, fail)


def is_stopped(target: Served, host, reason: str) -> bool:
    return bool(host.get_property(0x1C) & _FATAL) and any(reason in line for line in target.log)


def test_a_first_change_that_cannot_be_recorded_has_an_answer(target, monkeypatch):
    """Then all commands are refused, until the power has been off."""
    with target.host(timeout=10) as host:
        host.shutdown()
        with monkeypatch.context() as broken:
            breaking(target, broken, "record_use")
            with pytest.raises(CommandFailed) as failed:
                host.write(1, 0, bytes(BLOCK))
            assert failed.value.status == TargetStatus.INTERNAL_ERROR
        assert is_stopped(target, host, "the device has stopped: RuntimeError: record_use is broken")
        with pytest.raises(CommandFailed):
            host.write(1, 0, bytes(BLOCK))
    target.run(target.target.lose_power())
    with target.host() as host:
        host.write(1, 0, b"\1" * BLOCK)
        assert host.read(1, 0, 1) == b"\1" * BLOCK and not host.get_property(0x1C) & _FATAL


@pytest.mark.parametrize("name", ["record_end", "recover"])
def test_what_fails_is_not_reported_as_done(target, monkeypatch, name):
    breaking(target, monkeypatch, name)
    if name == "recover":
        with pytest.raises(RuntimeError):
            target.run(target.target.lose_power())
    with target.host() as host:
        with pytest.raises(DeviceStopped):
            host.shutdown()
        assert is_stopped(target, host, f"{name} is broken")
