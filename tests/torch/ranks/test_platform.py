"""The platform's model of ranks beside a training under FSDP2: commands, collectives, simulated time."""

from pathlib import Path

import pytest

from flashtrain.model import ModelLink
from flashtrain.platform.ranks import network_job
from flashtrain.platform.ranks.comparison import compared
from flashtrain.spec import preset
from flashtrain.torch.ranks.measured_job import measured_steps
from tests.torch.ranks.pool import run

PAGE = (Path(__file__).parents[3] / "docs" / "platform.md").read_text(encoding="utf-8")


def measured(rank, count, *arguments):
    return measured_steps(*arguments)


@pytest.mark.parametrize(
    ("count", "name", "link", "size", "most"),
    [
        (2, "small", ModelLink, (64, 4, 256, 2), 0.02),
        # Zones that end within a storage, and shards of different sizes.
        (4, "small", "functional", (9, 1, 10_000, 3), 0),
    ],
)
def test_model_and_run(count, name, link, size, most):
    config = preset(name)
    *network, steps = size
    found = compared(network_job(*network, count), config, steps, run(count, measured, config, link, *size))
    print(found.text())
    if link is ModelLink:
        assert f"```text\n{found.text()}\nequal\n```" in PAGE
    assert found.is_equal
    assert bool(found.times) == (link is ModelLink)
    assert all(abs(row.error) < most for row in found.times)
