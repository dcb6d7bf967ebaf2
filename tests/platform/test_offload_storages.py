"""Storages by name: their figures are those of the models."""

import pytest

from flashtrain.perf.read_bound import read_bound
from flashtrain.platform.models import SsdModel, append_bound
from flashtrain.platform.offload_storages import OFFLOAD_STORAGES, storage_of
from flashtrain.platform.storage import Kind, together
from flashtrain.spec import preset
from flashtrain.ssd import SsdConfig

BEHEMOTH = preset("behemoth")


def made(name):
    return OFFLOAD_STORAGES[name].make(BEHEMOTH, 16 * 10**9)


@pytest.mark.parametrize("name", OFFLOAD_STORAGES)
def test_each_has_its_name_and_the_memory(name):
    assert made(name).name == name
    assert made(name).memory_bytes == 16 * 10**9


def test_the_flash_memory_system_is_at_its_bounds():
    storage = made("fms")
    assert storage.write_bytes_per_second == pytest.approx(append_bound(BEHEMOTH))
    assert storage.read_bytes_per_second == pytest.approx(read_bound(BEHEMOTH).bytes_per_second)
    assert storage.port_bytes_per_second == pytest.approx(76.8e9)
    assert storage.codecs == ()


def test_four_ssds_write_as_the_slides_of_behemoth_say():
    assert made("ssd4").write_bytes_per_second == pytest.approx(11.3e9, rel=0.001)


def test_codecs():
    assert made("fms-codec").codecs == ("window16", "window32")
    assert made("fms-lossy").codecs == ("window16", "window32", "round16")
    assert made("ssd-flashneuron").codecs == ("zeros16",)


def test_shared_parts_slow_down_as_the_resources_do():
    model = SsdModel(SsdConfig.of(BEHEMOTH))
    storage = storage_of(model, 1)
    loads = [
        storage.write_bytes_per_second / part.write_bytes_per_second
        + storage.read_bytes_per_second / part.read_bytes_per_second
        for part in storage.shared
    ]
    rates = together(model.resources(), [Kind.APPEND, Kind.READ])
    assert storage.write_bytes_per_second / max(1.0, *loads) == pytest.approx(rates[Kind.APPEND])
