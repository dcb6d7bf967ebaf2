"""Parameters of the error model. docs/errors.md says where each number is from."""

from flashtrain.spec.streams import Retention

from .model import Ageing, ErrorModel, Wear

SLC = ErrorModel(
    fresh=1e-9,
    wear=Wear(1e-8, exponent=2.05),
    retention=Ageing(1e-4, amount=365, wear_exponent=1.87, exponent=0.54),
    disturb=Ageing(1e-5, amount=1e6, wear_exponent=1.0, exponent=1.0),
    program_failure=Wear(3.3e-11, exponent=1.0),
    erase_failure=Wear(2.5e-8, exponent=1.0),
    rated_cycles=Retention.YEARS.endurance,
)
"""Behemoth's cells. At the end of each class of retention (`Retention.endurance`) they have the errors that
the code is made for: after 50,000 cycles and a year, 200,000 and three days, 2,000,000 and a minute."""


def even(rate: float, seed: int = 1) -> ErrorModel:
    """Bits are wrong at a rate that nothing changes."""
    return ErrorModel(seed=seed, fresh=rate)
