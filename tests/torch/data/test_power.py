"""A named data set whose device loses its power at random commands: it is found whole, or stored anew."""

from random import Random

import torch

from flashtrain.host import open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import PowerFailed
from flashtrain.torch import FlashDataset
from tests.stress.powercut.test_functional_power import FailingLink
from tests.torch.compare import bits

CUTS = 60


class Source:
    """Rows, and whether more than the first one was asked for."""

    def __init__(self, rows):
        self.rows, self.stores = rows, False

    def __getitem__(self, number):
        self.stores |= number > 0
        return self.rows[number]

    def __len__(self):
        return len(self.rows)


def test_losses_of_power(seed, request):
    random = Random(seed)
    rows = torch.randint(256, (300, 60), dtype=torch.uint8)
    link = FailingLink(random, preset("tiny"))
    cuts, found, stored, kept = 0, 0, 0, False  # the data set is there for certain
    with open_device(link=link, node=UPDATE_NODE) as device:
        while cuts < (request.config.getoption("--long") or CUTS):
            link.left, source = random.randrange(16), Source(rows)
            try:
                data = FlashDataset(source, device, name="rows")
                assert not (kept and source.stores)
                kept, found, stored = True, found + (not source.stores), stored + source.stores
                assert bits(torch.stack(data.__getitems__(range(300)))) == bits(rows)
                if random.random() < 0.3:
                    kept = False
                    data.drop()
            except PowerFailed:
                cuts += 1
                while True:
                    link.power_cycle()
                    link.left = random.choice([-1, random.randrange(30)])
                    try:
                        device.recover()
                    except PowerFailed:
                        continue
                    break
        link.left = -1
    print(f"{cuts} losses of power; stored {stored} times, and found {found} times")
    assert min(stored, found) > cuts / 10
