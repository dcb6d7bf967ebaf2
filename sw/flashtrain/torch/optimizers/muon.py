"""`Muon` of PyTorch, with its steps on the dies; parameters that are no matrices step by AdamW."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim.optimizer import ParamsT

from flashtrain.host import Device
from flashtrain.host.device import STATE_STREAMS
from flashtrain.numerics import Constants, HyperparameterError, gradient_values
from flashtrain.spec import Port
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input, SgdConstant
from flashtrain.spec.state_format import Rounding
from flashtrain.torch.ranks.shards import (
    Distribution,
    as_distributed,
    is_distributed,
    shard,
    shard_like,
)
from flashtrain.torch.tensor_names import described
from flashtrain.training import optimizers
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.errors import ParameterError
from flashtrain.training.optimizers import SGDW, MovingMean

from .adam import AdamW, adam_step
from .die_optimizer import DieOptimizer
from .formats import Formats, gradient_of
from .group_step import CellStep, GroupStep, Region, StateNames
from .parameter_check import name_of
from .storage import Storage, WeightFormat

_A, _B, _C = 3.4445, -4.7750, 2.0315  # K. Jordan, "Muon: An optimizer for hidden layers", as in PyTorch
_MOST_ITERATIONS = 99

_ADAMW = {"betas": (0.9, 0.999), "eps": 1e-8}
"""Options of a group without Muon, with the defaults of `torch.optim.AdamW`."""

_ADJUSTMENTS = {
    None: lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
}
"""The factor of the learning rate for a matrix of this shape, by `adjust_lr_fn`."""


class Muon(DieOptimizer):
    """As `torch.optim.Muon`, on the dies of `device`; see :class:`DieOptimizer` for the arguments behind it.

    A group with ``"use_muon": False`` steps by AdamW, with the options of `torch.optim.AdamW`: `lr` and
    `weight_decay` are those of the optimizer, `betas` and `eps` AdamW's own, unless the group has others.
    Parameters that are no matrices belong there.

    Of a distributed matrix all ranks orthogonalise the whole together, with the operations of DTensor.

    The dies keep momentum and weights apart, so that each of the two commands of a step programs one of them.
    The host reads the momentum and orthogonalises it, on the device of the parameter, a matrix at a time.
    Both are in one generation: after a loss of power both are of a step, or of the one before.
    """

    names = StateNames({Input.M: "momentum_buffer"}, counted=False)
    state_is_moments = False
    hyperparameters = ("lr", "weight_decay")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (_A, _B, _C),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
        *,
        device: Device,
        gradient_format: GradientFormat | None = None,
        copy_format: CopyFormat | None = None,
        streams: Iterable[str] = STATE_STREAMS,
        port: Port = Port.CORE,
        max_norm: float | None = None,
        recovered: bool = False,
        commits: Commits = PLAIN,
        group: "dist.ProcessGroup | None" = None,
        overlap: bool = False,
        own_parameters: bool = False,
        weight_dtype: WeightFormat = torch.float32,
        state_dtype: torch.dtype = torch.float32,
        rounding: Rounding = Rounding.NEAREST,
        seed: int = 0,
    ) -> None:
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": tuple(ns_coefficients),
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
            "use_muon": True,
        }
        super().__init__(
            params,
            defaults,
            device,
            gradient_format,
            copy_format,
            streams,
            port,
            max_norm,
            recovered,
            commits,
            group,
            overlap,
            Storage.of(weight_dtype, state_dtype, rounding, seed),
            own_parameters,
        )

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if not param_group.get("use_muon", True):
            for name, value in _ADAMW.items():
                param_group.setdefault(name, value)
        super().add_param_group(param_group)

    def names_of(self, group: Mapping[str, Any]) -> StateNames:
        return self.names if group["use_muon"] else AdamW.names

    def step_of(self, number: int, group: Mapping[str, Any]) -> GroupStep:
        if not group["use_muon"]:
            return adam_step(optimizers.AdamW, group)
        for index, parameter in enumerate(group["params"]):
            name = name_of(group, number, index)
            if parameter.ndim != 2:
                raise ParameterError(
                    f"{name} is {described(parameter)}; expected a matrix, or a group with use_muon=False, "
                    "which steps by AdamW"
                )
            if (place := Distribution.of(parameter)) is not None and place.mesh.size() > 1:
                self._check_shard(name, parameter)
        lr = float(group["lr"])
        return MuonStep(
            MovingMean(float(group["momentum"])),
            SGDW(lr, float(group["weight_decay"])),
            bool(group["nesterov"]),
            NewtonSchulz(tuple(group["ns_coefficients"]), group["ns_steps"], float(group["eps"])),
            group["adjust_lr_fn"],
            lambda error: self._agreement.ready(self._dies.updates, error),
        )

    def _check_shard(self, name: str, parameter: Tensor) -> None:
        """:class:`ParameterError` unless all ranks orthogonalise the distributed matrix at one time."""
        about = f"{name} is a part of {described(parameter)}"
        if self._overlap is not None or self._own_parameters:
            option = "overlap" if self._overlap is not None else "own_parameters"
            raise ParameterError(
                f"{about}, which all ranks orthogonalise together; expected {option}=False, or whole matrices"
            )
        if not shard(parameter).numel():
            raise ParameterError(f"{about}, of which this rank has nothing; expected a row on each rank")

    def _checked_group(self, number: int, group: Mapping[str, Any]) -> dict[str, Any]:
        # PyTorch's dictionaries do not have the option.
        uses = group.get("use_muon", self.param_groups[number]["use_muon"])
        defaults = {} if uses else _ADAMW
        return super()._checked_group(number, {**defaults, **group, "use_muon": uses})


@dataclass(frozen=True)
class NewtonSchulz:
    """The iteration that orthogonalises a matrix, in BF16 as in `torch.optim.Muon`.

    The result is near U Vᵀ of the singular value decomposition U S Vᵀ: its singular values lie about 1.
    """

    coefficients: tuple[float, ...]
    iterations: int
    eps: float

    def __post_init__(self) -> None:
        if len(self.coefficients) != 3:
            raise HyperparameterError(f"ns_coefficients is {self.coefficients!r}; expected three numbers")
        if not isinstance(self.iterations, int) or not 0 <= self.iterations <= _MOST_ITERATIONS:
            raise HyperparameterError(
                f"ns_steps is {self.iterations!r}; expected an integer from 0 to {_MOST_ITERATIONS}"
            )
        if not self.eps >= 0:
            raise HyperparameterError(f"eps is {self.eps!r}; expected 0 or more")

    def __call__(self, matrix: Tensor) -> Tensor:
        """The orthogonalised matrix in BF16; the matrix is float32."""
        a, b, c = self.coefficients
        is_tall = matrix.size(0) > matrix.size(1)
        x = matrix.bfloat16()
        x = x.T if is_tall else x
        x.div_(x.norm().clamp(min=self.eps))  # so that no singular value is above 1
        for _ in range(self.iterations):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x.T if is_tall else x


@dataclass(frozen=True)
class MuonStep(GroupStep):
    """The step of a group of matrices: their momentum by one command, their weights by another.

    Members
    -------
    mean: of the momentum.
    weights: of the weights, which the orthogonalised momentum moves.
    is_nesterov: whether the momentum looks a step ahead.
    orthogonalise: makes the direction from the momentum.
    adjustment: the name of the factor of the learning rate by shape.
    ready: `OwnStep.ready` with the error of this rank, before collectives about a distributed matrix.
    """

    mean: MovingMean
    weights: SGDW
    is_nesterov: bool
    orthogonalise: NewtonSchulz
    adjustment: str | None
    ready: Callable[[Exception | None], bool]

    def __post_init__(self) -> None:
        if self.adjustment not in _ADJUSTMENTS:
            known = ", ".join(repr(name) for name in _ADJUSTMENTS)
            raise HyperparameterError(f"adjust_lr_fn is {self.adjustment!r}; expected one of {known}")

    @property
    def name(self) -> str:
        return "muon"

    @property
    def layout(self) -> tuple[tuple[Input, ...], ...]:
        return (Input.M,), (Input.W,)

    def regions(self, formats: Formats) -> tuple[Region, ...]:
        momentum, weights = self.layout
        # Directions are BF16 numbers.
        directions = replace(formats, gradient=GradientFormat.BF16)
        return (
            Region(self.mean.code, momentum, replace(formats, copy=CopyFormat.NONE)),
            Region(self.weights.code, weights, directions, takes_gradients=False),
        )

    def rate_factor(self, parameter: Tensor) -> float:
        return _ADJUSTMENTS[self.adjustment](*parameter.shape)

    def constants(self, step: CellStep) -> list[Constants]:
        weights = SGDW(
            self.weights.learning_rate, self.weights.weight_decay, self.rate_factor(step.parameters[0])
        )
        mean = self.mean.constants(step.number, step.unscale, step.clip)
        return [mean, weights.constants(step.number)]

    def tensors(
        self, step: CellStep, parameter: Tensor, gradient: Array, read: Callable[[Input], FloatArray]
    ) -> list[Array]:
        scale = self.mean.constants(step.number, step.unscale, step.clip)[SgdConstant.SCALE]

        def ahead() -> Tensor:
            return self._ahead(parameter.device, read(Input.M), gradient, scale)

        direction = (
            self._joint(parameter, ahead) if is_distributed(parameter) else self.orthogonalise(ahead())
        )
        return [gradient, gradient_of(direction, GradientFormat.BF16, negated=False)]

    def _ahead(self, device: torch.device, old: FloatArray, sent: Array, scale: np.float32) -> Tensor:
        """The momentum that is orthogonalised, from the old one and the gradient as it is sent."""
        with np.errstate(all="ignore"):  # the dies tell of an overflow
            gradient = torch.from_numpy(gradient_values(sent) * scale).to(device)
        momentum = torch.from_numpy(old).to(device).lerp(gradient, 1 - self.mean.momentum)
        return gradient.lerp(momentum, self.mean.momentum) if self.is_nesterov else momentum

    def _joint(self, parameter: Tensor, ahead: Callable[[], Tensor]) -> Tensor:
        """The part of this rank of a direction that all ranks compute, with the operations of DTensor."""
        part, failure = shard(parameter).new_zeros(shard(parameter).shape, dtype=torch.float32), None
        try:
            part = ahead()
        except Exception as error:
            failure = error
        if not self.ready(failure):
            return part.bfloat16()
        return shard_like(parameter, self.orthogonalise(as_distributed(parameter, part)), "a direction")
