"""`AdamWScheduleFree`, with its steps on the dies."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim.optimizer import ParamsT

from flashtrain.host import Device
from flashtrain.host.device import STATE_STREAMS
from flashtrain.numerics import Constants
from flashtrain.spec import Port
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input
from flashtrain.spec.state_format import Rounding
from flashtrain.training import optimizers
from flashtrain.training.arrays import FloatArray
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.errors import ParameterError
from flashtrain.training.optimizers.schedule_free import Average, lerp

from .die_optimizer import DieOptimizer
from .formats import checksum, float32_of, set_weights
from .group_step import CellStep, GroupStep, StateNames, WholeStep
from .state_view import MASTER_WEIGHT
from .storage import Storage, WeightFormat

_MODE = "train_mode"


class AdamWScheduleFree(DieOptimizer):
    """As `schedulefree.AdamWScheduleFree` of its authors, on the dies of `device`; see :class:`DieOptimizer`.

    The dies hold y, at which gradients are taken, z and the second moments. In train mode the parameters hold
    y. :meth:`eval` writes the average x to them, and :meth:`train` brings y back, with the same bits unless
    somebody has written to the parameters. An optimizer begins in eval mode, in which :meth:`step` raises
    :class:`ParameterError`. foreach is refused unless it is as by default.
    """

    names = StateNames({Input.M: "z", Input.V: "exp_avg_sq"}, counted=False, whole=True)
    state_is_moments = False
    hyperparameters = (
        "lr", "betas", "eps", "weight_decay", "warmup_steps", "r", "weight_lr_power", "k", "weight_sum",
        "lr_max", _MODE,
    )  # fmt: skip

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 0.0025,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        warmup_steps: int = 0,
        r: float = 0.0,
        weight_lr_power: float = 2.0,
        foreach: bool | None = None,
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
            "betas": tuple(float(beta) for beta in betas),
            "eps": eps,
            "r": r,
            "k": 0,
            "warmup_steps": warmup_steps,
            _MODE: False,
            "weight_sum": 0.0,
            "lr_max": -1.0,
            "scheduled_lr": 0.0,
            "weight_lr_power": weight_lr_power,
            "weight_decay": weight_decay,
            "foreach": foreach,
        }
        # Sums of the parameters that show averages, as they were written.
        self._shown_averages: dict[Tensor, int] = {}
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
        """As :meth:`DieOptimizer.add_param_group`; the group is in the mode of the others."""
        if self.param_groups:
            param_group.setdefault(_MODE, self.param_groups[0][_MODE])
        super().add_param_group(param_group)

    def step_of(self, number: int, group: Mapping[str, Any]) -> GroupStep:
        self.refuse(number, {"foreach": group["foreach"]})
        return ScheduleFreeStep(_optimizer_of(group), _average_of(group))

    def counted(self, group: Mapping[str, Any]) -> dict[str, Any]:
        optimizer, average = _optimizer_of(group), _average_of(group)
        after = optimizer.after(average)
        return {
            "k": after.k,
            "weight_sum": after.weight_sum,
            "lr_max": after.lr_max,
            "scheduled_lr": optimizer.rate(average.k),
            _MODE: True,
        }

    @torch.no_grad()
    def eval(self) -> None:
        """Write the averages x to the parameters, for evaluation and checkpoints of the model."""
        self._forget_begun()
        changed = set(self._dies.changed())
        for p, beta1 in self._stepped(mode=True):
            y = float32_of(p) if p in changed else self._dies.read_one(p, Input.W)
            self._show_average(p, y, beta1)
        for p in changed:  # what somebody has written is not on the dies
            self._shown_averages.pop(p, None)
        self._set_mode(False)

    @torch.no_grad()
    def train(self) -> None:
        """Write the weights y to the parameters, at which gradients are taken."""
        self._forget_begun()
        for p, beta1 in self._stepped(mode=False):
            if self._shown_averages.get(p) == checksum(p):
                self._dies.write({p: self._dies.read_one(p, Input.W)})
            else:
                set_weights(p, lerp(float32_of(p), self._dies.read_one(p, Input.M), 1 - beta1))
        self._shown_averages = {}
        self._set_mode(True)

    @torch.no_grad()
    def step(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        closure: Callable[[], Any] | None = None,
        *,
        grad_scaler: torch.amp.GradScaler | None = None,
    ) -> Any:
        """As :meth:`DieOptimizer.step`; :class:`ParameterError` in eval mode."""
        if not all(group[_MODE] for group in self.param_groups):
            self._forget_begun()
            raise ParameterError(
                "the parameters hold averages, at which no step is taken; expected train() of the optimizer "
                "before the forward pass, and eval() behind the step"
            )
        return super().step(closure, grad_scaler=grad_scaler)

    def _stepped(self, mode: bool) -> list[tuple[Tensor, float]]:
        """The parameters with state of the groups in this mode, each with the beta1 of its group."""
        taken = self._dies.steps
        return [
            (p, float(group["betas"][0]))
            for group in self.param_groups
            if bool(group[_MODE]) is mode
            for p in group["params"]
            if taken.get(p)
        ]

    def _set_mode(self, training: bool) -> None:
        for group in self.param_groups:
            group[_MODE] = training

    def _load(self, given: dict[str, Any]) -> dict[str, Any]:
        loaded = super()._load(given)
        self._shown_averages = {}
        for own, group, saved in zip(
            self.param_groups, loaded["param_groups"], given["param_groups"], strict=True
        ):
            for p, key in zip(own["params"], saved["params"], strict=True):
                # Its float32 weights are y in each mode; without them the parameter has x itself.
                if not group[_MODE] and MASTER_WEIGHT in given["state"].get(key, {}):
                    self._show_average(p, self._dies.read_one(p, Input.W), float(group["betas"][0]))
        return loaded

    def _show_average(self, parameter: Tensor, y: FloatArray, beta1: float) -> None:
        set_weights(parameter, lerp(y, self._dies.read_one(parameter, Input.M), 1 - 1 / beta1))
        self._shown_averages[parameter] = checksum(parameter)


@dataclass(frozen=True)
class ScheduleFreeStep(WholeStep):
    """The step of a group behind `average`, which its parameters share even if some had fewer gradients."""

    optimizer: optimizers.AdamWScheduleFree
    average: Average

    def initial(self, array: Input, weights: FloatArray) -> FloatArray:
        return weights if array is Input.M else super().initial(array, weights)

    def constants(self, step: CellStep) -> list[Constants]:
        return [self.optimizer.next_constants(self.average, step.unscale, step.clip)]


def _optimizer_of(group: Mapping[str, Any]) -> optimizers.AdamWScheduleFree:
    beta1, beta2 = (float(beta) for beta in group["betas"])
    numbers = (group[name] for name in ("eps", "weight_decay", "warmup_steps", "r", "weight_lr_power"))
    return optimizers.AdamWScheduleFree(float(group["lr"]), beta1, beta2, *numbers)


def _average_of(group: Mapping[str, Any]) -> Average:
    return Average(group["k"], group["weight_sum"], group["lr_max"])
