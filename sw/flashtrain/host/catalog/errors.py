"""Exceptions of the catalogue of named arrays."""

from flashtrain.host.errors import HostError, StaleHandle


class CatalogError(HostError):
    """Base of the errors of a catalogue; it is unchanged."""


class CatalogMissing(CatalogError):
    """The node of the device has no stream for a catalogue."""


class CatalogUnsuitable(CatalogError):
    """The stream cannot keep a catalogue: it is volatile, not recorded, or has a codec or another user."""


class CatalogFull(CatalogError):
    """The stream's zones have no room for the arrays; nothing was stored, replaced or deleted."""


class CatalogDamaged(CatalogError):
    """A page of an array, or more than one of the index, is lost, or a checksum is wrong."""


class NameExists(CatalogError):
    """An array has that name already."""


class NameMissing(CatalogError, KeyError):
    """No array has that name."""

    __str__ = Exception.__str__


class NameInvalid(CatalogError, ValueError):
    """The name is not a text that the catalogue accepts."""


class StaleView(CatalogError, StaleHandle):
    """A view's array was replaced or deleted."""
