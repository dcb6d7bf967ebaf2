"""The packages that define networks, imported when they are needed."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from flashtrain.torch.errors import MissingExtra
from flashtrain.torch.networks.torchvision_operators import import_torchvision


def definitions(module: str) -> ModuleType:
    """A module of `transformers` or `torchvision`; `MissingExtra` if its package is not installed."""
    package = module.partition(".")[0]
    try:
        if find_spec("torchvision"):
            import_torchvision()  # transformers imports it, too
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtra(
            f"{package} is not installed; expected the extra: pip install 'flashtrain[networks]'"
        ) from error
    return import_module(module)
