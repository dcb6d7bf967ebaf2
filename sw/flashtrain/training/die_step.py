"""A step on the dies: the report about its gradients, and when it is clipped, skipped or committed."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from flashtrain.numerics import HyperparameterError, Totals
from flashtrain.training.optimizers.optimizer import number

_CLIP_GUARD = 1e-6  # added to the norm, as in torch.nn.utils.clip_grad_norm_


@dataclass(frozen=True)
class GradientReport:
    """Statistics of the dies about the gradients of an update.

    - `norm`: the L2 norm of the gradients times `unscale`.
    - `largest`: the largest magnitude, before `unscale`.
    - `skipped`: the step was dropped because of an overflow.
    - `renewed`: the dies could not read the state, so the host wrote it anew before the update
      (`OptimizerState.renew`).
    """

    norm: float
    largest: float
    nans: int
    infinities: int
    overflow: bool
    skipped: bool = False
    renewed: bool = False

    @classmethod
    def of(cls, totals: Totals, unscale: float, renewed: bool) -> "GradientReport":
        t = totals
        return cls(t.norm(unscale), t.largest, t.nans, t.infinities, t.overflow, renewed=renewed)


def norm_limit(max_norm: float | None) -> float | None:
    """The limit of the norm; :class:`HyperparameterError` unless it is None, or a number of 0 or more."""
    limit = None if max_norm is None else number("max_norm", max_norm)
    if limit is not None and not limit >= 0:
        raise HyperparameterError(f"max_norm is {limit!r}; expected 0 or more")
    return limit


def take_step(
    update: Callable[[float], GradientReport],
    commit: Callable[[], object],
    skip: Callable[[], None],
    max_norm: float | None,
) -> GradientReport:
    """Update, then commit, or skip after an overflow. Gradients beyond `max_norm` take a second update.

    update: computes the step with its gradients times a factor.
    """
    limit = norm_limit(max_norm)
    report = update(1.0)
    if report.overflow:
        skip()
        return replace(report, skipped=True)
    clip = 1.0 if limit is None else min(1.0, limit / (report.norm + _CLIP_GUARD))
    if clip < 1:
        skip()
        clipped = update(clip)
        report = replace(report, renewed=report.renewed or clipped.renewed)
    commit()
    return report
