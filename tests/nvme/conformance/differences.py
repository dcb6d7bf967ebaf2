"""stub"""
from enum import Enum, auto
from dataclasses import dataclass
from collections.abc import Callable
from .trial import Trial, Outcome
from .zones import Zones
class Aspect(Enum):
    STATUS=auto(); DNR=auto(); RESULT=auto(); DATA=auto(); ZONES=auto()
@dataclass(frozen=True)
class Case:
    trial: Trial
    before: Zones
    theirs: Outcome
    ours: Outcome
    field: str = ""
