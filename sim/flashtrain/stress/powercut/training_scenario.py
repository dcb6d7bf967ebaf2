"""A training run through the flash, as a scenario."""

from collections.abc import Callable

from flashtrain.host import Device
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.stress.workload import Expected, Workload, node_of
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.sequence import StreamRole

from .judgement import judge
from .remembering import RememberingStorage
from .survival import Survival

LASTING = (StreamRole.INPUTS, StreamRole.TRAINED)
"""Streams that are appended to and outlast a loss of power."""


class TrainingScenario:
    """A training run whose appended tensors and committed steps are remembered."""

    def __init__(self, seed: int, iterations: int) -> None:
        self.on_append: Callable[[], None] = lambda: None
        self._workload = Workload(seed, iterations)
        self._data = digits()
        self._expected = Expected(self._workload, self._data)
        self._storage = RememberingStorage({})

    def node(self, config: FmsConfig) -> NodeTable:
        return node_of(config)

    def run(self, device: Device) -> None:
        workload = self._workload
        self._storage = RememberingStorage(dict.fromkeys(StreamRole, device))
        self._storage.on_append = self._appended
        train_through_flash(
            workload.network,
            self._data,
            workload.optimizer,
            workload.batch,
            workload.iterations,
            workload.seed,
            self._storage,
        )

    def judge(self, device: Device, survival: Survival) -> None:
        judge(device, self._storage, self._expected, survival)

    def _appended(self, role: StreamRole) -> None:
        if role in LASTING:
            self.on_append()
