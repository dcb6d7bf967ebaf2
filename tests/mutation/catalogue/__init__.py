"""The faults, in the order of the data."""

from tests.mutation.catalogue.arithmetic import ARITHMETIC
from tests.mutation.catalogue.board import BOARD
from tests.mutation.catalogue.channel import CHANNEL
from tests.mutation.catalogue.code import CODE
from tests.mutation.catalogue.codec import CODEC
from tests.mutation.catalogue.dies import DIES
from tests.mutation.catalogue.frontend import FRONTEND
from tests.mutation.catalogue.keys import KEYS
from tests.mutation.catalogue.luns import LUNS
from tests.mutation.catalogue.moving import MOVING
from tests.mutation.catalogue.parts import PARTS
from tests.mutation.catalogue.pcie import PCIE
from tests.mutation.catalogue.pipelines import PIPELINES
from tests.mutation.catalogue.port import COMMAND_PORT
from tests.mutation.catalogue.sca import SCA
from tests.mutation.catalogue.sdr import SDR
from tests.mutation.catalogue.spares import SPARES
from tests.mutation.catalogue.state_formats import STATE_FORMATS
from tests.mutation.catalogue.talking import TALKING
from tests.mutation.catalogue.zones import ZONES

FAULTS = (
    *PCIE,
    *FRONTEND,
    *ZONES,
    *PIPELINES,
    *CHANNEL,
    *CODE,
    *CODEC,
    *SPARES,
    *TALKING,
    *COMMAND_PORT,
    *SDR,
    *SCA,
    *LUNS,
    *BOARD,
    *MOVING,
    *PARTS,
    *DIES,
    *STATE_FORMATS,
    *KEYS,
    *ARITHMETIC,
)
