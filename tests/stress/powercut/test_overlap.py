"""Power failures within steps that begin during the backward pass: the state is that of a whole step.

`pytest tests/stress/powercut/test_overlap.py --long 300` makes 300 of them on each functional device, and 100
on the RTL with each kind of state.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from torch import nn

from flashtrain.host import Device, Link, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.state_format import Rounding, StateFormat
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.torch import AdamW
from tests.stress.powercut.test_functional_power import FailingLink as FunctionalFailingLink
from tests.torch.compare import bits

ITERATIONS = 40  # of the reference, which begins anew then
MICRO = 2
CYCLES_OF_COMPUTING = 4_000  # of a layer's backward pass, on the RTL
KINDS: dict[str, dict[str, Any]] = {"w32_s32": {}} | {
    f"w16_s{bits}": {"weight_dtype": torch.bfloat16, "state_dtype": dtype, "rounding": Rounding.STOCHASTIC}
    for bits, dtype in ((16, torch.bfloat16), (8, torch.float8_e4m3fn))
}
KINDS["w16x16_s16"] = {**KINDS["w16_s16"], "weight_dtype": StateFormat.SPLIT}
"""Of state, by the bits of weights and moments."""
COMMANDS = 50  # at most, of a functional device between two failures
CYCLES = 160_000  # the same of the RTL


class Training:
    """Iterations that follow from their numbers: some are clipped, in some the gradients overflow.

    compute: called between the layers of a backward pass. kind: of state, in `KINDS`.

    Members
    -------
    place: where in a step that began during the backward pass the training is; "" elsewhere.
    """

    def __init__(
        self, device: Device, overlap: bool, kind: str, compute: Callable[[], None] = lambda: None
    ) -> None:
        torch.manual_seed(1)
        self.model = nn.Sequential(
            nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 12), nn.Tanh(), nn.Linear(12, 4)
        )
        for layer in self.model:
            layer.register_full_backward_pre_hook(lambda *_: self._backward(compute))
        self.iteration = 0
        self.place = ""
        self._overlap, self._kind = overlap, kind
        self.attach(device, recovered=False)

    def attach(self, device: Device, recovered: bool) -> None:
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.fill_(0) if recovered else None
        groups = [
            {"params": self.model[:2].parameters()},
            {"params": self.model[2:].parameters(), "lr": 0.02},
        ]
        self.optimizer = AdamW(
            groups, lr=0.01, device=device, max_norm=4.0, overlap=self._overlap, recovered=recovered,
            **KINDS[self._kind],
        )  # fmt: skip
        self.optimizer.host_state = lambda: bytes([self.iteration + 1])
        if recovered:
            self.iteration = 0
            self.optimizer.resume(lambda host: setattr(self, "iteration", host[0]))
            self.optimizer.zero_grad()

    def _backward(self, compute: Callable[[], None]) -> None:
        overlap = self.optimizer._overlap
        self.place = "backward" if overlap is not None and overlap._open is not None else ""
        compute()

    def iterate(self) -> None:
        random = torch.Generator().manual_seed(self.iteration)
        for _ in range(MICRO):
            x = torch.randn(8, 20, generator=random)
            if self.iteration % 7 == 5:
                x[0, 0] = float("nan")
            self.model(x).square().sum().backward()
        overlap = self.optimizer._overlap
        self.place = "step" if overlap is not None and overlap._open is not None else ""
        self.optimizer.step()
        self.place = ""
        self.optimizer.zero_grad()
        self.iteration += 1

    def content(self) -> list[bytes]:
        state = self.optimizer.state_dict()["state"]
        tensors = [*self.model.parameters(), *(t for entry in state.values() for t in entry.values())]
        return [bits(tensor) for tensor in tensors]


def config_of(name: str, kind: str) -> FmsConfig:
    return replace(preset(name), fp8_state=kind == "w16_s8")


def reference(kind: str) -> list[list[bytes]]:
    """The content after each iteration, of steps that begin after the backward pass; no power fails."""
    with open_device(config_of("tiny", kind), node=UPDATE_NODE) as device:
        training = Training(device, overlap=False, kind=kind)
        contents = [training.content()]
        clipped = 0
        for _ in range(ITERATIONS):
            training.iterate()
            contents.append(training.content())
            report = training.optimizer.report
            clipped += not report.skipped and report.norm > 4
        assert 0 < clipped < ITERATIONS
    return contents


@contextmanager
def functional(
    config: FmsConfig, random: Random
) -> Iterator[tuple[Link, Callable[[], None], Callable[[], None]]]:
    link = FunctionalFailingLink(random, config)
    with link:
        yield (
            link,
            lambda: setattr(link, "left", random.randrange(COMMANDS)),
            lambda: setattr(link, "left", -1),
        )


@contextmanager
def rtl(config: FmsConfig, random: Random) -> Iterator[tuple[Link, Callable[[], None], Callable[[], None]]]:
    with FailingLink(RtlLink(config, 1 << 18)) as link:

        def set_time() -> None:
            link.time = link.cycles + random.randrange(CYCLES)

        yield link, set_time, lambda: setattr(link, "time", None)


@pytest.mark.filterwarnings("ignore:AdamW skipped a step")
@pytest.mark.parametrize(
    ("make", "name", "usual", "share", "kind"),
    [
        pytest.param(functional, "tiny", 8, 1, "w32_s32", id="functional-tiny"),
        pytest.param(functional, "tiny_ecc", 4, 1, "w16x16_s16", id="functional-tiny_ecc"),
        pytest.param(rtl, "tiny", 4, 3, "w32_s32", id="rtl-tiny"),
        *(
            pytest.param(rtl, "tiny", 4, 3, kind, id=f"rtl-tiny-{kind}", marks=pytest.mark.long)
            for kind in ("w16_s16", "w16_s8", "w16x16_s16")
        ),
    ],
)
def test_the_state_is_that_of_a_whole_step(make, name, usual, share, kind, seed, request):
    wished = request.config.getoption("--long") // share or usual
    contents, random = reference(kind), Random(seed)
    cuts = {"backward": 0, "step": 0, "elsewhere": 0}
    before = after = 0
    with make(config_of(name, kind), random) as (link, arm, disarm):

        def compute() -> None:
            link.run(CYCLES_OF_COMPUTING)

        device = open_device(link=link, node=UPDATE_NODE)
        training = Training(device, overlap=True, kind=kind, compute=compute)
        while cuts["backward"] + cuts["step"] < wished:
            training.iterate()  # is only watched
            done = training.iteration
            arm()
            with pytest.raises(PowerFailed):
                while training.iteration < ITERATIONS:
                    done = training.iteration
                    training.iterate()
                raise PowerFailed  # the reference ends
            disarm()
            cuts[training.place or "elsewhere"] += 1
            link.power_cycle()
            device = open_device(link=link, node=UPDATE_NODE, recover=True)
            training.attach(device, recovered=True)
            skipped = [n for n in range(training.iteration, done) if n % 7 != 5]
            assert not skipped and training.iteration <= done + 1
            assert training.content() == contents[training.iteration]
            before += training.iteration <= done
            after += training.iteration > done
            if training.iteration > ITERATIONS - 10:
                training = Training(device, overlap=True, kind=kind, compute=compute)
        print(f"power failures: {cuts}; the state of the step before {before} times, after it {after} times")
    assert cuts["backward"] and cuts["step"]
    if wished > usual:
        assert before and after
