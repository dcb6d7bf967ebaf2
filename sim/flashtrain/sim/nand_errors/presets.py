"""Parameters of the error model. docs/errors.md says where each number is from."""

from .model import Ageing, ErrorModel, Wear

SLC = ErrorModel(
    fresh=1e-8,
    wear=Wear(1e-6, exponent=2.05),
    retention=Ageing(9.9e-5, amount=365, wear_exponent=1.74, exponent=0.54),
    disturb=Ageing(1e-5, amount=1e6, wear_exponent=1.0, exponent=1.0),
    program_failure=Wear(3.3e-11, exponent=1.0),
    erase_failure=Wear(2.5e-8, exponent=1.0),
    rated_cycles=50_000,
)
"""Behemoth's cells: the rate that the code is made for is reached by data of one year after 50,000 cycles,
and by data of three days after 200,000."""


def even(rate: float, seed: int = 1) -> ErrorModel:
    """Bits are wrong at a rate that nothing changes."""
    return ErrorModel(seed=seed, fresh=rate)
