"""The optimizer steps that are measured and compared: optimizer and formats, and the work that a step is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import TensorGroup
from flashtrain.numerics import gradients_in
from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import PLAIN, Rounding, StateFormat, StateFormats
from flashtrain.spec.update import Tile
from flashtrain.training.optimizers import SGDW, Adam, MovingMean, Optimizer

from .energy import Work

WorkOf = Callable[[int, int, int], Work]
"""The work of a step on so many parameters, which programs and senses so many pages."""


@dataclass(frozen=True)
class Case:
    """An optimizer, the format of gradients, and that of the copies of the weights that come back.

    formats, rounding: of the state on the dies.
    """

    optimizer: Optimizer
    gradient: GradientFormat = GradientFormat.FP32
    copy: CopyFormat = CopyFormat.NONE
    formats: StateFormats = PLAIN
    rounding: Rounding = Rounding.NEAREST

    @property
    def code(self) -> OptimizerCode:
        return self.optimizer.code

    @property
    def state_bytes(self) -> float:
        """Of a parameter: its weight, and what else the optimizer keeps."""
        return self.formats.bytes_of(len(PROGRAMS[self.code].outputs))

    @property
    def operations(self) -> int:
        """Floating-point operations per parameter."""
        return len(PROGRAMS[self.code].operations)

    def tile(self, config: FmsConfig) -> Tile:
        return Tile.of(config.geometry, self.code, self.gradient, self.copy, self.formats)

    def group(self, count: int) -> TensorGroup:
        """One tensor of so many parameters."""
        return TensorGroup(
            self.code, ((count,),), self.gradient, self.copy, formats=self.formats, rounding=self.rounding
        )

    def gradients(self, count: int) -> NDArray:
        return gradients_in(self.gradient, np.random.default_rng(5).normal(0, 1e-2, count).astype(np.float32))

    def work_on_dies(self, parameters: int, programs: int, senses: int) -> Work:
        """Of a step on the dies, which programs and senses so many pages: only gradients and copies move."""
        return Work(
            programs=programs,
            senses=senses,
            channel_bytes=parameters * (self.gradient.bytes + self.copy.bytes),
            operations=parameters * self.operations,
        )

    def work_in_controller(self, parameters: int, programs: int, senses: int) -> Work:
        """Of a step in the controller: the state crosses the channels there and back."""
        return Work(
            programs=programs,
            senses=senses,
            channel_bytes=parameters * 2 * self.state_bytes,
            operations=parameters * self.operations,
        )

    def work_on_host(self, parameters: int, programs: int, senses: int) -> Work:
        """Of a step on the host: the state crosses channels and link there and back, with the gradients."""
        return Work(
            programs=programs,
            senses=senses,
            channel_bytes=parameters * 2 * self.state_bytes,
            link_bytes=parameters * (2 * self.state_bytes + self.gradient.bytes),
            host_operations=parameters * self.operations,
        )


def _adam(weight: StateFormat, moments: StateFormat, rounding: Rounding) -> Case:
    """Of gradients in BF16, with weights in BF16 for the accelerator: the state's own, or copies."""
    copy = CopyFormat.BF16 if weight is StateFormat.FP32 else CopyFormat.NONE
    return Case(Adam(), GradientFormat.BF16, copy, StateFormats(weight, moments), rounding)


ADAM_W32_S32 = _adam(StateFormat.FP32, StateFormat.FP32, Rounding.NEAREST)
ADAM_W32_S16 = _adam(StateFormat.FP32, StateFormat.BF16, Rounding.STOCHASTIC)
ADAM_W16_S16 = _adam(StateFormat.BF16, StateFormat.BF16, Rounding.STOCHASTIC)
ADAM_W16_S8 = _adam(StateFormat.BF16, StateFormat.FP8, Rounding.STOCHASTIC)
ADAM_W16X16_S16 = _adam(StateFormat.SPLIT, StateFormat.BF16, Rounding.STOCHASTIC)
"""The digits are the bits of w, of each half of it in SPLIT, and of m and v."""

MUON = (Case(MovingMean()), Case(SGDW(), GradientFormat.BF16))
"""The commands of a step of Muon: momentum from float32 gradients, then weights from directions in BF16."""
