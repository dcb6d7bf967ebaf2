"""The names of arrays."""

from .errors import NameInvalid

MAX_BYTES = 255
"""The longest name, in bytes of UTF-8."""


def check_name(name: object) -> str:
    """`name`, if it can name an array; :class:`NameInvalid` with the reason otherwise."""
    if not isinstance(name, str):
        raise NameInvalid(f"the name of an array is a {type(name).__name__}; expected a str")
    if not name:
        raise NameInvalid("the name of an array is empty; expected at least one character")
    if any(character < " " or character == "\x7f" for character in name):
        raise NameInvalid(f"name {name!r} has a control character; expected printable characters")
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        raise NameInvalid(f"name {name!r} is not text that UTF-8 can encode: {error.reason}") from error
    if length > MAX_BYTES:
        raise NameInvalid(f"name {name[:20] + '...'!r} has {length} bytes; expected at most {MAX_BYTES}")
    return name
