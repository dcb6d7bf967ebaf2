"""The faults, in the order of the data."""

from catalogue.arithmetic import ARITHMETIC
from catalogue.channel import CHANNEL
from catalogue.code import CODE
from catalogue.dies import DIES
from catalogue.frontend import FRONTEND
from catalogue.keys import KEYS
from catalogue.moving import MOVING
from catalogue.pipelines import PIPELINES
from catalogue.spares import SPARES
from catalogue.talking import TALKING
from catalogue.zones import ZONES

FAULTS = (
    *FRONTEND,
    *ZONES,
    *PIPELINES,
    *CHANNEL,
    *CODE,
    *SPARES,
    *TALKING,
    *MOVING,
    *DIES,
    *KEYS,
    *ARITHMETIC,
)
