"""Kills processes that work on a device with an image, and judges in the next process what the image has.

Each process recovers the device, compares everything that earlier ones were told is stored, works on, and is
killed at a random time (`kill -9`). It reports over a pipe, so the parent knows what was acknowledged.
"""

from .campaign import KillCampaign, KillTally
from .ledger import Ledger, LedgerMaker
from .state_ledger import StateLedger
from .stream_ledger import StreamLedger

__all__ = ["KillCampaign", "KillTally", "Ledger", "LedgerMaker", "StateLedger", "StreamLedger"]
"""A catalogue of named tensors is judged by a ledger of its own, beside these two."""
