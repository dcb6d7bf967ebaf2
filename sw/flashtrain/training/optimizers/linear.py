"""A linear combination of weights, momentum and gradient, from which a host builds what it needs."""

from dataclasses import dataclass, fields

from flashtrain.numerics import Constants
from flashtrain.spec.optimizer import LinearConstant, OptimizerCode

from .optimizer import Optimizer, finite


@dataclass(frozen=True)
class Linear(Optimizer):
    """``m = m_m * m + m_g * g;  w = w_w * w + w_m * m + w_g * g`` with the new m.

    Examples:

    - momentum with dampening: ``m_m = momentum, m_g = 1 - dampening, w_m = -lr``
    - gradients accumulated in m over micro-batches: ``m_m = m_g = 1``
    - in w, the average of weights that are sent as g: ``w_w = d, w_g = 1 - d``
    """

    m_m: float = 0.0
    m_g: float = 0.0
    w_w: float = 1.0
    w_m: float = 0.0
    w_g: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in fields(self):
            finite(field.name, getattr(self, field.name))

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.LINEAR

    def _constants(self, t: int, scale: float) -> Constants:
        c = LinearConstant
        values = {
            c.SCALE: scale,
            c.M_M: self.m_m,
            c.M_G: self.m_g,
            c.W_W: self.w_w,
            c.W_M: self.w_m,
            c.W_G: self.w_g,
        }
        return Constants.rounded(self.code, values)
