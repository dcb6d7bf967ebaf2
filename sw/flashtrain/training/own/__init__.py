"""Networks and data of one's own, from a module and a file, checked before any training."""

from flashtrain.training.own.data_file import fitting, load_data
from flashtrain.training.own.module_network import load_network
from flashtrain.training.own.trial import try_network

__all__ = ["fitting", "load_data", "load_network", "try_network"]
