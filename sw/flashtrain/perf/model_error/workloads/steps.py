"""Optimizer steps on the dies."""

from dataclasses import dataclass

import numpy as np

from flashtrain.host import Device, TensorGroup
from flashtrain.perf.update_case import Case
from flashtrain.spec import NodeTable
from flashtrain.spec.streams import UPDATE_NODE

from ..point import Quantity, Values
from .storing import seconds_since


@dataclass(frozen=True)
class OptimizerStep:
    """A step on `rows_per_die` tiles of each die.

    Parameters per second from its first command to its commit.
    """

    case: Case
    rows_per_die: int

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return (Quantity.UPDATES,)

    @property
    def node(self) -> NodeTable:
        return UPDATE_NODE

    def run(self, device: Device) -> Values:
        case, g = self.case, device.config.geometry
        count = self.rows_per_die * g.dies * g.channels * case.tile(device.config).parameters
        state = device.optimizer_state([TensorGroup(case.code, ((count,),), case.gradient, case.copy)])
        weights = np.random.default_rng(15).normal(0, 0.02, count).astype(np.float32)
        state.initialise([[weights]])
        device.wait()
        gradients, constants, begin = case.gradients(count), case.optimizer.constants(1), device.cycles
        state.update([[gradients]], [constants])
        state.commit()
        return {Quantity.UPDATES: count / seconds_since(device, begin) / 1e6}
