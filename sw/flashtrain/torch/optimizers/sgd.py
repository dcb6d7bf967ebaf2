"""`SGD` of PyTorch, with its steps on the dies."""

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
from flashtrain.training.errors import ParameterError

from .die_optimizer import DieOptimizer
from .group_step import GroupStep, StateNames, WholeStep
from .storage import Storage, WeightFormat


class SGD(DieOptimizer):
    """As `torch.optim.SGD`, on the dies of `device`; see :class:`DieOptimizer` for the arguments behind it.

    dampening, foreach, fused and differentiable are refused unless they are as by default.
    """

    names = StateNames({Input.M: "momentum_buffer"}, counted=False)
    hyperparameters = ("lr", "momentum", "weight_decay")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        device: Device,
        maximize: bool = False,
        foreach: bool | None = None,
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
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
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
        self.refuse(
            number, {name: group[name] for name in ("dampening", "foreach", "differentiable", "fused")}
        )
        lr, momentum, decay = float(group["lr"]), float(group["momentum"]), float(group["weight_decay"])
        if not momentum:
            if group["nesterov"]:
                raise ParameterError(
                    f"group {number} has nesterov without momentum; expected momentum above 0"
                )
            return WholeStep(optimizers.SGD(lr, decay))
        kind = optimizers.Nesterov if group["nesterov"] else optimizers.Momentum
        return WholeStep(kind(lr, momentum, decay))
