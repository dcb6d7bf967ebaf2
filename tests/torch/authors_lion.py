"""Lion as its authors wrote it for PyTorch."""

import torch


class AuthorsLion(torch.optim.Optimizer):
    """`lion_pytorch.py` of X. Chen et al. (NeurIPS 2023), operation by operation; `torch.optim` has no Lion.

    foreach is PyTorch's usual option, and does nothing here; maximize steps along the gradient.
    """

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False, foreach=False):
        defaults = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            lr, (beta1, beta2) = group["lr"], group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.mul_(1 - lr * group["weight_decay"])
                grad = -p.grad if group["maximize"] else p.grad
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                update = state["exp_avg"] * beta1 + grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-lr)
                state["exp_avg"].mul_(beta2).add_(grad, alpha=1 - beta2)
