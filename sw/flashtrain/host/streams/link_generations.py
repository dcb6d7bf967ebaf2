"""The generations of the device behind a Link."""

from functools import partial
from weakref import WeakKeyDictionary

from flashtrain.host.link import Link

from .generations import DeviceGenerations
from .kept_generations import KeptGenerations

_OF_LINKS: WeakKeyDictionary[Link, DeviceGenerations] = WeakKeyDictionary()


def generations_of(link: Link) -> DeviceGenerations:
    """Generations on the device behind a Link; they outlive the :class:`Device` objects on that Link.

    An image keeps them for later processes.
    """
    if link not in _OF_LINKS:
        _OF_LINKS[link] = _made(link)
    return _OF_LINKS[link]


def _made(link: Link) -> DeviceGenerations:
    name = f"{link.config.name} {link.serial}"
    if link.image is None:
        return DeviceGenerations(name)
    return DeviceGenerations(name, partial(KeptGenerations, link.image))
