"""The same through the RTL: few commands, as each is simulated."""

import numpy as np

from flashtrain.sim.link.rtl_link import RtlLink
from tests.nvme.helpers import served
from tests.objects.helpers import connect


def test_objects_through_the_rtl():
    with served("tiny", node="objects", link=RtlLink) as target:
        fs = connect(target)
        array = np.arange(700, dtype=np.int16)
        with fs.open("objects/a.npy", "wb") as file:
            np.save(file, array)
        fs.mv("objects/a.npy", "objects/b.npy")
        target.run(target.target.lose_power())
        with fs.open("objects/b.npy") as file:
            assert (np.load(file) == array).all()
        assert fs.find("objects") == ["objects/b.npy"]
        fs.rm("objects/b.npy")
        fs.close()
        assert connect(target).ls("objects") == []
