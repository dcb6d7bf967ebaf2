"""A training that is cut goes on to the same bits: losses, weights, state and random numbers."""

from random import Random

import pytest

from flashtrain.host import open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import PowerFailed
from flashtrain.torch import ResumableSampler
from flashtrain.torch.checkpoint import TorchRandom
from flashtrain.torch.optimizers.commit_note import CommitNote
from tests.stress.powercut.test_functional_power import FailingLink
from tests.torch.checkpoint.training import STEPS, Training


@pytest.mark.parametrize(("preset_name", "scaled"), [("tiny", False), ("tiny", True), ("tiny_ecc", False)])
def test_power_failures_at_random_commands(preset_name, scaled, seed, undisturbed, undisturbed_scaled):
    """Also while the first weights are stored, in recoveries, and behind steps that overflow."""
    expected = undisturbed_scaled if scaled else undisturbed
    random, losses, resumed, cuts = Random(seed), {}, [], 0
    link = FailingLink(random, preset(preset_name))
    with open_device(link=link, node=UPDATE_NODE) as device:
        while True:
            try:
                link.left = random.randrange(40)
                training = Training(device, scaled)
                resumed.append(training.resumed)
                training.run()
                break
            except PowerFailed:
                cuts += 1
                if resumed:
                    training.add_losses(losses)
            while True:
                link.power_cycle()
                link.left = random.randrange(60) if random.random() < 0.3 else -1
                try:
                    device.recover()
                    break
                except PowerFailed:
                    cuts += 1
        link.left = -1
        training.add_losses(losses)
        print(cuts, "cuts; resumed at", resumed)
        assert cuts > 3 and len(set(resumed)) > 2
        assert losses == expected[0]
        assert training.result == expected[1]


@pytest.mark.parametrize("number", [0, 1, 6, 7, 8, STEPS - 1])
def test_a_cut_between_two_steps(number, undisturbed):
    """Among them the first and the last of an epoch."""

    def cut(step):
        if step == number:
            raise PowerFailed

    with open_device("tiny", node=UPDATE_NODE) as device:
        first = Training(device)
        with pytest.raises(PowerFailed):
            first.run(cut)
        device.link.power_cycle()
        device.recover()
        second = Training(device)
        assert second.resumed == number
        second.run()
        assert first.losses | second.losses == undisturbed[0]
        assert sorted(second.losses) == list(range(number, STEPS))
        assert second.result == undisturbed[1]


@pytest.mark.parametrize(
    ("kind", "method"),
    [(TorchRandom, "load_state_dict"), (ResumableSampler, "load_state_dict"), (CommitNote, "set_options")],
    ids=["random numbers", "position", "rate"],
)
def test_each_part_of_the_state_is_needed(kind, method, undisturbed, monkeypatch):
    def cut(step):
        if step == 4:
            raise PowerFailed

    with open_device("tiny", node=UPDATE_NODE) as device:
        with pytest.raises(PowerFailed):
            Training(device).run(cut)
        device.link.power_cycle()
        device.recover()
        monkeypatch.setattr(kind, method, lambda self, given: None)
        second = Training(device)
        second.run()
        assert any(undisturbed[0].get(number) != loss for number, loss in second.losses.items())
