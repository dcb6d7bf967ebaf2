"""`Adam` and `AdamW` of PyTorch, with their steps on the dies."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim.optimizer import ParamsT

from flashtrain.host import Device
from flashtrain.host.device import STATE_STREAMS
from flashtrain.spec import Port
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input
from flashtrain.spec.state_format import Rounding
from flashtrain.training import optimizers
from flashtrain.training.commits import PLAIN, Commits

from .die_optimizer import DieOptimizer
from .group_step import GroupStep, StateNames, WholeStep
from .storage import Storage, WeightFormat

_REFUSED = ("amsgrad", "foreach", "capturable", "differentiable", "fused")


def adam_step(kind: type[optimizers.Adam], group: Mapping[str, Any]) -> GroupStep:
    """The step of `kind` with the options of a group."""
    beta1, beta2 = group["betas"]
    lr, epsilon, decay = float(group["lr"]), float(group["eps"]), float(group["weight_decay"])
    return WholeStep(kind(lr, float(beta1), float(beta2), epsilon, decay))


class Adam(DieOptimizer):
    """As `torch.optim.Adam`, on the dies of `device`; see :class:`DieOptimizer` for the arguments behind it.

    amsgrad, foreach, fused, capturable and differentiable are refused unless they are as by default.
    """

    names = StateNames({Input.M: "exp_avg", Input.V: "exp_avg_sq"}, counted=True, whole=True)
    hyperparameters = ("lr", "betas", "eps", "weight_decay")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        device: Device,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
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
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
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

    def step_of(self, number: int, group: Mapping[str, Any]) -> GroupStep:
        self.refuse(number, {name: group[name] for name in _REFUSED})
        return adam_step(optimizers.AdamW if group["decoupled_weight_decay"] else optimizers.Adam, group)


class AdamW(Adam):
    """As `torch.optim.AdamW`, on the dies of `device`; see :class:`Adam`."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        device: Device,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
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
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, device=device, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
            gradient_format=gradient_format, copy_format=copy_format, streams=streams, port=port,
            max_norm=max_norm, recovered=recovered, commits=commits, group=group, overlap=overlap,
            own_parameters=own_parameters, weight_dtype=weight_dtype, state_dtype=state_dtype,
            rounding=rounding, seed=seed,
        )  # fmt: skip

    def step_of(self, number: int, group: Mapping[str, Any]) -> GroupStep:
        # Dictionaries of older versions of PyTorch do not have the option.
        return super().step_of(number, {**group, "decoupled_weight_decay": True})
