"""Constants with which a step leaves weights and state as they are."""

from flashtrain.numerics import Constants
from flashtrain.spec.optimizer import AdamConstant, LinearConstant, OptimizerCode, SgdConstant


def hold(arrays: int) -> Constants:
    """For gradients of zero, and groups with `arrays` arrays of state: 1 (w), 2 (w, m) or 3 (w, m, v).

    All finite numbers stay equal; a zero may lose its sign. Infinite ones may become NaN.
    """
    return _HOLD[arrays]


# Products with a zero gradient are -0 where possible, because -0 is neutral in sums.
_HOLD = {
    1: Constants.rounded(
        OptimizerCode.SGD,
        {SgdConstant.SCALE: 1.0, SgdConstant.DECAY: 0.0, SgdConstant.STEP: -0.0, SgdConstant.MOMENTUM: 0.0},
    ),
    2: Constants.rounded(
        OptimizerCode.LINEAR,
        {
            LinearConstant.SCALE: 1.0,
            LinearConstant.M_M: 1.0,
            LinearConstant.M_G: -0.0,
            LinearConstant.W_W: 1.0,
            LinearConstant.W_M: -0.0,
            LinearConstant.W_G: -0.0,
        },
    ),
    3: Constants.rounded(
        OptimizerCode.ADAMW,
        {
            AdamConstant.SCALE: 1.0,
            AdamConstant.DECAY: 1.0,
            AdamConstant.MEAN_GAIN: -0.0,
            AdamConstant.SQUARE_KEEP: 1.0,
            AdamConstant.SQUARE_GAIN: 0.0,
            AdamConstant.BIAS: 1.0,
            AdamConstant.EPSILON: 1.0,
            AdamConstant.STEP: -0.0,
        },
    ),
}
