"""URLs of objects: `flash://host:port/stream/object`."""

from typing import NamedTuple
from urllib.parse import urlsplit

PROTOCOL = "flash"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 4420
_PREFIX = PROTOCOL + "://"


class Address(NamedTuple):
    """A target."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT

    @classmethod
    def of(cls, url: str) -> "Address":
        """The target of a URL; ValueError for a port that is none."""
        parts = urlsplit(url)
        return cls(parts.hostname or DEFAULT_HOST, parts.port or DEFAULT_PORT)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_PREFIX}{host}:{self.port}"


def path_of(url: str) -> str:
    """Stream and object of a URL or of a path, without slashes at the ends."""
    if url.startswith(_PREFIX):
        url = url[len(_PREFIX) :].partition("/")[2]
    return url.strip("/")


def parent_of(path: str) -> str:
    """The folder that a path lies in; a stream lies in the root, which is empty."""
    return path.rpartition("/")[0]


def stream_of(path: str) -> str:
    return path.partition("/")[0]


def check_object(path: str) -> str:
    """`path`, if it can name an object of a stream; ValueError with the reason otherwise."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts[1:]):
        raise ValueError(f"object {path!r}: a part of the path is empty, . or ..")
    if any(character < " " or character == "\x7f" for character in path):
        raise ValueError(f"object {path!r} has a control character; expected printable characters")
    path.encode()
    return path
