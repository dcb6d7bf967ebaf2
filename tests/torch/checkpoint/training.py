"""A training that resumes: dropout, an order of samples, a schedule of the rate, Adam on the dies."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from flashtrain.host import Device, StateMissing
from flashtrain.torch import Adam, ResumableSampler
from flashtrain.torch.checkpoint import HostState, ScalerAfterStep, TorchRandom
from tests.torch.compare import bits

EPOCHS = 2
BATCHES = 7
STEPS = EPOCHS * BATCHES


class Training:
    """A training on `device`; a new one goes on with what the dies hold.

    scaled: with a loss scale, which is too large at first, and again whenever it has grown.

    Members
    -------
    losses: the bits of the loss by the number of the step, of this training.
    resumed: the number of the step that it began with.
    """

    def __init__(self, device: Device, scaled: bool = False) -> None:
        random = torch.Generator().manual_seed(1)
        samples = torch.randn(5 * BATCHES, 6, generator=random), torch.randn(5 * BATCHES, 2, generator=random)
        self.losses: dict[int, bytes] = {}
        self._data = TensorDataset(*samples)
        try:
            self._make(device, scaled, recovered=True)
        except StateMissing:
            torch.manual_seed(2)
            self._make(device, scaled, recovered=False)
        torch.manual_seed(3)  # as at the beginning, if nothing is resumed
        if self.optimizer.resume(self._host.restore):
            self._schedule.step()  # the rest of the iteration of the commit
        self.resumed = self._schedule.last_epoch

    def _make(self, device: Device, scaled: bool, recovered: bool) -> None:
        self.model = nn.Sequential(
            nn.Linear(6, 10), nn.Tanh(), nn.Dropout(0.3), nn.Linear(10, 2), nn.Dropout(0.1)
        )
        self._sampler = ResumableSampler(self._data, seed=4)
        self._loader = DataLoader(
            self._data, batch_size=5, sampler=self._sampler, generator=torch.Generator()
        )
        self.optimizer = Adam(
            self.model.parameters(), lr=0.05, weight_decay=0.01, device=device, recovered=recovered
        )
        # It sets the rate when it is made, and then goes on from the group's.
        self._schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.25, total_iters=STEPS)
        self._scaler = torch.amp.GradScaler("cpu", 2.0**67, growth_interval=3, enabled=scaled)
        self._host = HostState(
            sampler=self._sampler, schedule=self._schedule, random=TorchRandom(),
            scaler=ScalerAfterStep(self._scaler),
        )  # fmt: skip
        self.optimizer.host_state = self._host.pack

    def run(self, on_step=lambda number: None) -> None:
        """Train to the end; on_step is called before each step."""
        while self._sampler.epoch < EPOCHS:
            for x, y in self._sampler.batches(self._loader):
                number = self._schedule.last_epoch
                self.optimizer.zero_grad()
                loss = nn.functional.mse_loss(self.model(x), y)
                self._scaler.scale(loss).backward()
                self.losses[number] = bits(loss)
                on_step(number)
                self._scaler.step(self.optimizer)
                self._scaler.update()
                self._schedule.step()

    def add_losses(self, losses: dict[int, bytes]) -> None:
        """Add the losses to those of the trainings before; a step that is repeated has the same."""
        for number, loss in self.losses.items():
            assert losses.setdefault(number, loss) == loss

    @property
    def result(self):
        """All that the training leads to, in bits."""
        own = self.optimizer.state_dict()
        state = {
            (index, name): bits(value)
            for index, entry in own["state"].items()
            for name, value in entry.items()
        }
        weights = [bits(parameter) for parameter in self.model.parameters()]
        return weights, state, own["param_groups"], self._scaler.state_dict(), bits(torch.rand(9))

    @property
    def skipped(self) -> int:
        """Steps that were skipped after an overflow."""
        return STEPS - int(self.optimizer.state[self.model[0].weight]["step"])
