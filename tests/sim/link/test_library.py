"""The simulator of a configuration in the user's cache: found without elaboration, estimated, replaced."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.native.user_cache import user_cache, using_cache
from flashtrain.sim.link import library
from flashtrain.sim.link.library import build_library, simulator_key
from flashtrain.spec import preset


@pytest.fixture
def built(monkeypatch) -> list[str]:
    """The configurations that were built, as a file each that seems to have taken two minutes."""
    names = []

    def build(config, plans, pcie) -> tuple[Path, float]:
        names.append(config.name)

        def write(folder: Path) -> None:
            (folder / "lib.so").write_text(config.name, encoding="utf-8")

        return user_cache().build("lib", config.name, "key", "a library", write) / "lib.so", 120.0

    monkeypatch.setattr(library, "_build", build)
    return names


def test_the_second_use_looks_up_the_library(tmp_path, built):
    for _ in range(2):
        with using_cache(tmp_path):
            assert build_library(preset("tiny")).read_text(encoding="utf-8") == "tiny"
    assert built == ["tiny"]


def test_a_library_that_is_gone_or_damaged_is_built_again(tmp_path, built, capfd):
    with using_cache(tmp_path):
        path = build_library(preset("tiny"))
    path.write_text("t", encoding="utf-8")
    with using_cache(tmp_path):
        assert build_library(preset("tiny")) == path
    assert path.read_text(encoding="utf-8") == "tiny" and built == ["tiny"] * 2
    assert "lib.so has 1 bytes instead of 4; it is built again" in capfd.readouterr().err


def test_a_first_use_says_how_long_it_takes(tmp_path, built, capfd):
    lines = []
    tiny = preset("tiny")
    for config in (tiny, replace(tiny, commands=tiny.commands * 2), preset("small")):
        with using_cache(tmp_path):
            build_library(config)
        lines.append(capfd.readouterr().err)
    begin = "flashtrain: the simulator of {} is compiled once, into " + f"{tmp_path}: "
    assert lines == [
        begin.format("tiny") + "1 to 10 minutes\n",
        begin.format("tiny") + "about 2 minutes as the last time, less for what the cache has\n",
        begin.format("small") + "about 2 minutes, as others have taken\n",
    ]


def test_the_key_has_the_configuration():
    keys = {simulator_key(preset(name)) for name in ("tiny", "small", "tiny_ecc")}
    assert len(keys) == 3 and simulator_key(preset("tiny")) in keys
