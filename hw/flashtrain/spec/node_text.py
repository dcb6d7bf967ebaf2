"""Tables of streams as text, which the image of a flash keeps (`flashtrain.spec.image`)."""

import json
from dataclasses import asdict
from typing import Any

from flashtrain.reading import json_value

from .errors import require
from .streams import Access, Codec, Expired, NodeTable, Persistency, Retention, Stream

_ENUMS = {"persistency": Persistency, "retention": Retention, "codec": Codec, "expired": Expired}
_PORTS = ("host", "core")


def node_text(node: NodeTable) -> str:
    """A table as one line of JSON; enumerations are by name."""
    return json.dumps(node_document(node), separators=(",", ":"))


def node_of(text: str) -> NodeTable:
    """The table of a text of limited length; ValueError, KeyError or TypeError if it is none, ConfigError if
    its values are impossible."""
    document = json_value(text)
    require(isinstance(document["name"], str), "node.name", document["name"], "a text")
    return NodeTable(document["name"], tuple(_stream(fields) for fields in document["streams"]))


def node_document(node: NodeTable) -> dict[str, Any]:
    """A table as JSON has it."""
    return {"name": node.name, "streams": [_fields(stream) for stream in node.streams]}


def _fields(stream: Stream) -> dict[str, Any]:
    fields = asdict(stream)
    for key in _ENUMS:
        fields[key] = fields[key].name
    for port in _PORTS:
        fields[port] = [access.name for access in Access if access in fields[port]]
    return fields


def _stream(fields: dict[str, Any]) -> Stream:
    values = dict(fields)
    require(isinstance(values["name"], str), "stream.name", values["name"], "a text")
    for key, enum in _ENUMS.items():
        values[key] = enum[values[key]]
    for port in _PORTS:
        values[port] = _access(values[port])
    return Stream(**values)


def _access(names: list[str]) -> Access:
    access = Access.NONE
    for name in names:
        access |= Access[name]
    return access
