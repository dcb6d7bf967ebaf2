"""The paper's table, 64 channels, as RTL: it builds, and what is appended is what is read."""

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Port

SUPERPAGE_BYTES = 4 << 20


@pytest.mark.long
def test_a_superpage_through_64_channels(seed: int) -> None:
    with open_device("behemoth", link=RtlLink) as device:
        stream = device.stream("activations", port=Port.CORE)
        tensor = np.random.default_rng(seed).standard_normal(SUPERPAGE_BYTES // 4, np.float32)
        stored = stream.append(tensor)
        stream.flush()
        counters = device.channel_counters()
        assert [channel["PAGES_PROGRAMMED"] for channel in counters] == [16] * 64
        assert np.array_equal(stream.read(stored), tensor)
