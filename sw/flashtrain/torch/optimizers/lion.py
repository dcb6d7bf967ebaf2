"""`Lion`, with its steps on the dies."""

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


class Lion(DieOptimizer):
    """Lion (X. Chen et al., NeurIPS 2023) on the dies of `device`; see :class:`DieOptimizer` for the rest.

    Arguments and defaults are those of the authors' code. `torch.optim` has no Lion.
    """

    names = StateNames({Input.M: "exp_avg"}, counted=False)
    hyperparameters = ("lr", "betas", "weight_decay")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-4,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.99),
        weight_decay: float = 0,
        *,
        device: Device,
        maximize: bool = False,
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
            "weight_decay": weight_decay,
            "maximize": maximize,
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
        beta1, beta2 = group["betas"]
        lr, decay = float(group["lr"]), float(group["weight_decay"])
        return WholeStep(optimizers.Lion(lr, float(beta1), float(beta2), decay))
