"""The power fails within steps of a training through the RTL of `tiny`: it goes on to the same bits."""

from random import Random

from flashtrain.host import open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed
from tests.torch.checkpoint.training import Training

FIRST, EVERY = 2, 2
"""The first step that is cut, and the steps from one cut to the next."""


def test_cuts_at_random_cycles(seed, undisturbed):
    random, losses, starts, cuts = Random(seed), {}, {}, []
    with (
        RtlLink(preset("tiny"), 1 << 20) as rtl,
        open_device(link=(link := FailingLink(rtl)), node=UPDATE_NODE, factory=True) as device,
    ):

        def begin(number):
            starts[number] = link.cycles
            if number >= FIRST + EVERY * len(cuts) and number - 1 in starts:
                # A step and its iteration take as long as the one before.
                length = starts[number] - starts[number - 1]
                link.time = link.cycles + random.randrange(length)

        while True:
            training = Training(device)
            try:
                training.run(begin)
                break
            except PowerFailed:
                step = max(starts)
                cuts.append((step, link.cycles - starts[step]))
            training.add_losses(losses)
            link.power_cycle()
            device.recover()
            starts.clear()
        training.add_losses(losses)
        print("cut at (step, cycle):", cuts)
        assert len(cuts) > 3 and all(cycle > 0 for _, cycle in cuts)
        assert losses == undisturbed[0]
        assert training.result == undisturbed[1]
