"""NVMe qualified names (NVM Express Base 2.0, section 4.5)."""

import re

from flashtrain.nvme.errors import ServeError

MOST_BYTES = 223
_FORM = re.compile(r"nqn\.[0-9]{4}-(0[1-9]|1[0-2])\.[^\s:]+(:.+)?")


def is_nqn(text: str) -> bool:
    """Whether `text` is `nqn.YYYY-MM.DOMAIN` or `nqn.YYYY-MM.DOMAIN:NAME`, of printable characters."""
    return text.isprintable() and len(text.encode()) <= MOST_BYTES and _FORM.fullmatch(text) is not None


def check_nqn(what: str, text: str) -> None:
    """:class:`ServeError` for a text that is no name; the message calls it `what`."""
    if not is_nqn(text):
        raise ServeError(f"{what} is {text!r}; expected a name such as nqn.2014-08.org.example:name")
