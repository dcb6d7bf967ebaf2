"""Ranks that are killed, and devices that lose their power: a training goes on with the same bits."""

from random import Random

from flashtrain.sim.link.rtl_link import RtlLink
from tests.torch.ranks.pool import SECONDS, Killed, Run, run
from tests.torch.ranks.scenarios import RTL_STEPS, STEPS, losses_of_power, losses_on_rtl, training

COMPARED = (
    "Weights and state of both ranks are equal bit by bit to the undisturbed ones; 0 acknowledged steps lost."
)


def test_kills(tmp_path, seed, request):
    """Of a random rank at random moments; a training begins again until it is at its end."""
    kills, random = request.config.getoption("--long") or 4, Random(seed)
    seconds = 600 if kills > 4 else SECONDS  # a long campaign may have a busy machine
    undisturbed = run(2, training, str(tmp_path), {}, seconds=seconds)
    (tmp_path / "cut").mkdir()
    expected, moments = [one[1:3] for one in undisturbed], [one[3] for one in undisturbed]
    assert [one[0] for one in undisturbed] == [0, 0]
    happened = trainings = starts = 0
    while happened < kills:
        folder = tmp_path / "cut" / str(trainings)
        folder.mkdir()
        while True:
            victim = random.randrange(2)
            last = {victim: random.randrange(moments[victim])} if happened < kills else {}
            found = Run(2, training, str(folder), last, seconds=seconds).results()
            starts += 1
            survivors = [one for one in found if not isinstance(one, Killed)]
            if len(survivors) == 2:
                break
            happened += 1
            assert isinstance(found[victim], Killed), found
            for one in survivors:  # one that had its result before the other one was killed has the same
                assert one[0] in ("RankLost", "RuntimeError") or one[1:3] == expected[1 - victim], found
        assert [one[1:3] for one in found] == expected
        trainings += 1
    backs = len(list(tmp_path.glob("cut/*/*.back")))
    print(f"{happened} kills in {trainings} trainings of {STEPS} steps, {starts} starts; {backs} times a rank"
          f" dropped a step that the other one did not have. {COMPARED}")  # fmt: skip


def test_losses_of_power(seed, request):
    losses = request.config.getoption("--long") or 6
    found = run(2, losses_of_power, seed, losses, seconds=60 + 20 * losses)
    assert found[0][:2] == found[1][:2]
    (happened, trainings), backs = found[0][:2], sum(one[2] for one in found)
    print(f"{happened} losses of power in {trainings} trainings of {STEPS} steps; {backs} times a rank"
          f" dropped a step that the other one did not have. {COMPARED}")  # fmt: skip


def test_losses_of_power_on_the_rtl(fused_kernels, seed, request):
    """At random cycles of steps by AdamW and by Muon, with activations on the flash."""
    losses = request.config.getoption("--long") or 2
    found = run(2, losses_on_rtl, RtlLink, seed, losses, seconds=600 + 60 * losses)
    (happened, trainings), compared = found[0][:2], sum(one[2] for one in found)
    assert found[1][:2] == (happened, trainings)
    print(f"{happened} losses of power of one of two RTL devices in {trainings} trainings of {RTL_STEPS}"
          f" steps; {compared:,} numbers equal those in memory.")  # fmt: skip
