"""Schedule-free AdamW as its authors wrote it for PyTorch."""

import torch


class AuthorsScheduleFree(torch.optim.Optimizer):
    """`AdamWScheduleFree` of `schedulefree` 1.4.1 (A. Defazio et al., NeurIPS 2024), operation by operation.

    foreach is PyTorch's usual option, and does nothing here.
    """

    def __init__(
        self, params, lr=0.0025, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, warmup_steps=0, r=0.0,
        weight_lr_power=2.0, foreach=False,
    ):  # fmt: skip
        own = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach}
        own |= {"warmup_steps": warmup_steps, "r": r, "weight_lr_power": weight_lr_power}
        counted = {"k": 0, "weight_sum": 0.0, "lr_max": -1.0, "scheduled_lr": 0.0, "train_mode": False}
        super().__init__(params, own | counted)

    def eval(self):
        self._switch(False, lambda beta1: 1 - 1 / beta1)

    def train(self):
        self._switch(True, lambda beta1: 1 - beta1)

    @torch.no_grad()
    def _switch(self, mode, weight_of):
        for group in self.param_groups:
            if group["train_mode"] is not mode:
                for p in group["params"]:
                    if "z" in self.state[p]:
                        p.lerp_(self.state[p]["z"], weight_of(group["betas"][0]))
            group["train_mode"] = mode

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            assert group["train_mode"]
            (beta1, beta2), t = group["betas"], group["k"] + 1
            lr = group["lr"] * min(1.0, t / group["warmup_steps"] if group["warmup_steps"] else 1.0)
            group["scheduled_lr"], group["lr_max"] = lr, max(lr, group["lr_max"])
            weight = t ** group["r"] * group["lr_max"] ** group["weight_lr_power"]
            group["weight_sum"] += weight
            share = weight / group["weight_sum"] if group["weight_sum"] else 0
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["z"] = p.clone()
                    state["exp_avg_sq"] = torch.zeros_like(p)
                z, v = state["z"], state["exp_avg_sq"]
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                normalized = p.grad / v.div(1 - beta2**t).sqrt_().add_(group["eps"])
                if group["weight_decay"]:
                    normalized.add_(p, alpha=group["weight_decay"])
                p.lerp_(z, share)
                p.add_(normalized, alpha=lr * (beta1 * (1 - share) - 1))
                z.sub_(normalized, alpha=lr)
            group["k"] = t
