"""Mutations of input files: of their bytes, their words, their values, and the headers of arrays."""

import io
import json
import random
import zipfile
from collections.abc import Callable

import numpy as np

Mutator = Callable[[random.Random, bytes], bytes]

_VALUES = (
    "1" * 5000, "-" + "9" * 30, "9223372036854775808", "0x" + "f" * 5000, "0", "-1", "1e999", "-1e999", "NaN",
    "nan", "-inf", "Infinity", "0.1", "1e-320", "1e308", "4611686018427387904", "null", "true", '""',
    '"\\ud800"', '"x"', "[]", "{}", "[[]]", "[" * 3000 + "]" * 3000, '{"a":' * 200 + "1" + "}" * 200,
    "[" * 40 + "]" * 40, "{a=" * 400 + "1" + "}" * 400, "{a=" * 12 + "1" + "}" * 12, '"' + "x" * 10_000 + '"',
    "1979-05-27", "'''", '"""', "-", "+1", "1_000", "٣", "5.", ".5",
)  # fmt: skip
_MILD = (
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "64",
    "1000",
    "4096",
    "1048576",
    "1e9",
    "1e18",
    "1.5",
    "-1",
    "9007199254740993",
)
"""Numbers that a document may well have, elsewhere."""
_BYTES = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc3", b"\x80", b"\r", b"\n", b"\n\n", b'"', b"'", b"\\", b"[", b"]",
    b"{", b"}", b",", b".", b"=", b"#", b"PK\5\6", b"PK\1\2", b"\xe2\x80\xa8", b"a." * 50_000, b'"a".' * 9000,
    b"[" * 20_000, b'{"a":' * 20_000, b"1" * 5000, b"[[a]]\n" * 5000, b"a" * 100_000, b"\0" * 4096,
    b"[a.b]\nc.d.e.f=1\n" * 300, b"\xf0\x9f\x92\xa5", b"x = " + b"[" * 200, b'"""', b"'''",
)  # fmt: skip


def bytes_changed(chance: random.Random, data: bytes) -> bytes:
    """Some bytes changed, cut out, doubled, moved or put in."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        at, to = sorted(chance.randrange(len(changed) + 1) for _ in range(2))
        match chance.randrange(7):
            case 0 if changed:
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            case 1 if changed:
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            case 2:
                del changed[at : min(to, at + chance.choice((1, 8, 1000)))]
            case 3:
                del changed[at:]
            case 4:
                changed[at:at] = changed[at : min(to, at + 1000)] * chance.choice((1, 2, 20))
            case 5:
                changed[at:at] = chance.choice(_BYTES)
            case _:
                changed[at : at + 4] = chance.randbytes(4)
    return bytes(changed)


def words_changed(chance: random.Random, data: bytes) -> bytes:
    """A line of text whose words, values, or key are others; or lines in another order or twice."""
    lines = data.decode("utf-8", "replace").split("\n")
    at = chance.randrange(len(lines))
    words = lines[at].split(" ")
    match chance.randrange(6):
        case 0:
            words[chance.randrange(len(words))] = chance.choice(chance.choice((_VALUES, _MILD)))
        case 1:
            words = [lines[at].partition("=")[0], "=", chance.choice(chance.choice((_VALUES, _MILD)))]
        case 2:
            words.insert(chance.randrange(len(words) + 1), chance.choice(_VALUES))
        case 3:
            del words[chance.randrange(len(words))]
        case 4:
            lines.insert(chance.randrange(len(lines) + 1), lines[at])
        case _:
            words = [f"{'a.' * chance.choice((1, 8, 20, 5000))}{lines[at]}"]
    lines[at] = " ".join(words)
    return "\n".join(lines).encode("utf-8", "replace")


def values_changed(chance: random.Random, data: bytes) -> bytes:
    """A JSON document in which a value is another one, is gone, comes twice, or lies deep."""
    head, _, tail = data.rpartition(b"\n") if data.count(b"\n{") else (b"", b"", data)
    document = json.loads(tail)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        place, key = _place(chance, document)
        if place is None:
            break
        match chance.randrange(8):
            case 0:
                del place[key]
            case 1:
                other, there = _place(chance, document)
                place[key] = place[key] if other is None else json.loads(json.dumps(other[there]))
            case 2:
                place[key] = [place[key]] * chance.choice((1, 2, 100))
            case 3 if isinstance(place, dict):
                place[f"{key}{chance.choice(('', 'x', chr(0), 'é'))} "] = place[key]
            case 4:
                place[key] = f"RAW{chance.randrange(len(_VALUES))}RAW"
            case _:
                place[key] = f"RAW{len(_VALUES) + chance.randrange(len(_MILD))}RAW"
    text = json.dumps(document)
    for number, raw in enumerate(_VALUES + _MILD):
        text = text.replace(f'"RAW{number}RAW"', raw)
    return head + b"\n" * bool(head) + text.encode("utf-8", "replace")


def _place(chance: random.Random, document: object) -> tuple[dict | list | None, object]:
    """A list or an object of the document, and one of its keys."""
    found, inner = (None, None), document
    while isinstance(inner, dict | list) and inner:
        key = chance.choice(list(inner)) if isinstance(inner, dict) else chance.randrange(len(inner))
        found, inner = (inner, key), inner[key]
        if chance.random() < 0.25:
            break
    return found


_XML = (
    "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<![CDATA[", "<!--", "&b;", "&#0;", "&#x110000;", "<?x?>", "</a>",
    "<a/>", "<a>" * 50_000, "<a>" * 5000 + "</a>" * 5000, "<a " + "b" * 50_000, "<a b='1' b='2'/>", "\ufeff",
    "<?xml version='1.0' encoding='utf-16'?>", "<?xml version='9'?>",
)  # fmt: skip


def leaves_changed(chance: random.Random, data: bytes) -> bytes:
    """An XML document with another text in a leaf, or with markup that is none in a place."""
    text = data.decode("utf-8", "replace")
    at, to = (text.find(mark, chance.randrange(len(text) + 1)) for mark in ("<", ">"))
    match chance.randrange(4):
        case 0:
            return f"{text[:at]}{chance.choice(_XML)}{text[at:]}".encode("utf-8", "replace")
        case 1:
            return f"{text[:at]}{text[to + 1 :]}".encode("utf-8", "replace")
        case _:
            value = chance.choice(chance.choice((_VALUES, _MILD)))
            end = text.find("<", to + 1)
            return f"{text[: to + 1]}{value}{text[end:]}".encode("utf-8", "replace")


_SHAPES = (
    "(4,)", "()", "(0,)", "(-1,)", "(9999999999999999999999,)", "(4611686018427387904, 4)", "(1 << 40,)",
    "(2,) * 70", "(" * 300 + ")" * 300, "4", "None", "(True,)", "(1.5,)", "(1073741824, 1073741824, 0)",
    "(" + "1," * 70 + ")", "(1000000000,)", "(" + "9" * 5000 + ",)", "-" * 2000 + "1", "(4, 2)", "{}",
)  # fmt: skip
_TYPES = (
    "'<f4'", "'<f8'", "'|O'", "'|V8'", "'|S0'", "'<U1000000000'", "'|V99999999999'", "'>i8'", "'<c16'", "'?'",
    "[('a', '<f4'), ('b', '|O')]", "'<M8[s]'", "'nonsense'", "('<f4', (1000000,))", "None", "'<f99'", "''",
    "[('a', '<f4', (1000000000,))]", "{'names': ['a'], 'formats': ['<i4']}", "'" + "<f4," * 2000 + "'",
)  # fmt: skip
_KEYS = ("'descr'", "'fortran_order'", "'shape'")


def arrays_changed(chance: random.Random, data: bytes) -> bytes:
    """A file of arrays, one of which has another header, other data, or another way of compression."""
    name = chance.choice(("train_inputs.npy", "x", "a/../../b.npy", "", "é" * 200, "train_targets.npy"))
    header = _header(chance)
    content = header + bytes(chance.choice((0, 1, 16, 64, 96, 4096)))
    if not data.startswith(b"PK"):
        return content if chance.random() < 0.7 else data[: len(data) // 2] + content
    out = io.BytesIO()
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(io.BytesIO(data)) as whole, zipfile.ZipFile(out, "w", method) as archive:
        for entry in whole.infolist():
            if entry.filename != name and chance.random() < 0.9:
                archive.writestr(entry.filename, whole.read(entry))
        archive.writestr(name, content)
    changed = bytearray(out.getvalue())
    if chance.random() < 0.5:
        # Sizes, methods and flags in the records of the archive.
        at = changed.rfind(chance.choice((b"PK\1\2", b"PK\5\6", b"PK\3\4")))
        changed[at + chance.randrange(4, 46)] = chance.randrange(256)
    return bytes(changed)


def _header(chance: random.Random) -> bytes:
    values = (chance.choice(_TYPES), chance.choice(("False", "True", "0", "None")), chance.choice(_SHAPES))
    if chance.random() < 0.5:
        values = (chance.choice(("'<f4'", "'<i8'", "'|u1'")), "False", chance.choice(_SHAPES))
    pairs = [f"{key}: {value}" for key, value in zip(_KEYS, values, strict=True)]
    if chance.random() < 0.1:
        pairs.pop(chance.randrange(3))
    text = ("{" + ", ".join(pairs) + ", }").encode() + b" " * chance.choice((0, 5, 30)) + b"\n"
    length = chance.choice((len(text), len(text), len(text), 0, 0xFFFF, len(text) - 1))
    version = chance.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\t\0"))
    size = length.to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text


def compressed_changed(chance: random.Random, data: bytes) -> bytes:
    """A compressed archive whose stream is cut short, changed, or packs far more than its file has."""
    out = io.BytesIO()
    np.savez_compressed(out, train_inputs=np.zeros((chance.choice((1, 6, 100_000)), 4), np.float32))
    changed = bytearray(out.getvalue())
    at = chance.randrange(60, len(changed))
    if chance.random() < 0.5:
        del changed[at : at + chance.choice((1, 10, 100))]
    else:
        changed[at] ^= 0xFF
    return bytes(changed)
