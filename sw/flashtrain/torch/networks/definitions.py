"""The packages that define networks, imported when they are needed."""

from importlib import import_module
from types import ModuleType

from flashtrain.torch.errors import MissingExtra
from flashtrain.torch.networks.torchvision_operators import define_torchvision_operators


def definitions(module: str) -> ModuleType:
    """A module of `transformers` or `torchvision`; `MissingExtra` if its package is not installed."""
    package = module.partition(".")[0]
    define_torchvision_operators()  # transformers imports torchvision, too
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtra(
            f"{package} is not installed; expected the extra: pip install 'flashtrain[networks]'"
        ) from error
    return import_module(module)
