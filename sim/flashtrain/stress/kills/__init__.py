"""Kills processes that work on a device with an image, and judges in the next process what the image has.

Each process recovers the device, compares everything that was acknowledged to earlier ones, works on, and is
killed at a random time (`kill -9`). It reports each acknowledgement to the parent over a pipe.
"""

from .campaign import KillCampaign, KillTally
from .catalog_ledger import CatalogLedger
from .ledger import Ledger, LedgerMaker
from .state_ledger import StateLedger
from .stream_ledger import StreamLedger

__all__ = [
    "CatalogLedger",
    "KillCampaign",
    "KillTally",
    "Ledger",
    "LedgerMaker",
    "StateLedger",
    "StreamLedger",
]
