"""The C driver as a shared library, with its types for ctypes."""

import ctypes as c
from functools import cache
from pathlib import Path

from flashtrain.cdriver import driver_sources
from flashtrain.native.build_cache import BUILD, build_once, content_key, files_key
from flashtrain.native.compiler import c_compiler, compiler_version, run
from flashtrain.spec.registers import MAX_STREAMS

OPTIONS = ("-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SHIM = Path(__file__).with_name("shim.c")


class Platform(c.Structure):
    Read = c.CFUNCTYPE(c.c_uint32, c.c_void_p, c.c_uint32)
    Write = c.CFUNCTYPE(None, c.c_void_p, c.c_uint32, c.c_uint32)
    Call = c.CFUNCTYPE(None, c.c_void_p)
    Seconds = c.CFUNCTYPE(c.c_uint32, c.c_void_p)
    _fields_ = [
        ("read32", Read), ("write32", Write), ("barrier", Call), ("pause", Call), ("seconds", Seconds),
        ("context", c.c_void_p), ("memory", c.c_void_p), ("memory_bytes", c.c_uint64),
    ]  # fmt: skip


class Stream(c.Structure):
    _fields_ = [
        *((name, c.c_uint8) for name in ("nsid", "persistency", "retention", "host", "core", "codec")),
        ("share", c.c_uint16), ("refuses", c.c_bool), ("journal", c.c_bool),
    ]  # fmt: skip


class Config(c.Structure):
    _fields_ = [
        ("streams", c.POINTER(Stream)), ("stream_count", c.c_uint), ("queue_entries", c.c_uint),
        *((name, c.c_uint32) for name in ("scratch_bytes", "note_bytes", "command_polls", "state_polls")),
        *((name, c.c_bool) for name in ("corrects_errors", "randomizes", "keeps_fp8")),
    ]  # fmt: skip


class Info(c.Structure):
    _fields_ = [
        ("version", c.c_uint32),
        *((name, c.c_uint16) for name in ("channels", "dies", "planes", "zones", "spare_blocks", "pages")),
        ("page_bytes", c.c_uint32),
        *((name, c.c_uint16) for name in ("commands", "max_blocks", "max_open", "max_active")),
        *((name, c.c_uint32) for name in ("clock_mhz", "zone_capacity", "zone_size", "superpage")),
    ]


class Requirements(c.Structure):
    _fields_ = [("work_bytes", c.c_size_t), ("memory_bytes", c.c_uint64)]


class Request(c.Structure):
    _fields_ = [
        ("done", c.c_bool), ("port", c.c_uint8), ("error", c.c_int), ("status", c.c_uint16),
        ("result", c.c_uint64),
    ]  # fmt: skip


class Zone(c.Structure):
    _fields_ = [
        ("state", c.c_uint8), ("old", c.c_bool),
        *((name, c.c_uint32) for name in ("start", "room", "capacity", "time", "written", "sequence")),
        ("unsure", c.c_bool),
    ]  # fmt: skip


class Step(c.Structure):
    _fields_ = [
        *((name, c.c_uint8) for name in ("code", "gradient_format", "copy_format")),
        *((name, c.c_uint8) for name in ("weight_format", "moment_format", "rounding")),
        ("rounding_key", c.c_uint64),
        ("page", c.c_uint16),
        ("constants", c.c_uint32 * 8),
    ]


class Tile(c.Structure):
    _fields_ = [("parameters", c.c_uint32), ("gradient_pages", c.c_uint16), ("copy_pages", c.c_uint16)]


class Statistics(c.Structure):
    _fields_ = [
        *((name, c.c_uint32) for name in ("nans", "infinities", "largest", "tiles")),
        ("squares", c.c_uint32 * 8),
    ]


class Entry(c.Structure):
    _fields_ = [
        ("generation", c.c_uint16), ("page", c.c_uint16), ("pinned", c.c_bool),
        *((name, c.c_uint32) for name in ("commit", "updates", "note_bytes")),
    ]  # fmt: skip


class Commit(c.Structure):
    _fields_ = [
        ("updates", c.c_uint32), ("note", c.c_char_p), ("note_bytes", c.c_uint32), ("page", c.c_uint16),
        ("pin", c.c_bool), ("release", c.c_uint8), ("keep", c.c_bool),
    ]  # fmt: skip


class Recovered(c.Structure):
    _fields_ = [
        ("clean", c.c_bool),
        *((name, c.c_uint32) for name in ("records", "erased", "retired", "spares", "bad", "unusable")),
        ("refreshing", c.c_bool),
        ("blocks", c.c_uint64 * MAX_STREAMS),
    ]


class BadBlock(c.Structure):
    _fields_ = [
        *((name, c.c_uint8) for name in ("channel", "die", "plane")),
        *((name, c.c_uint16) for name in ("block", "replacement")),
    ]


class CommandPort(c.Structure):
    _fields_ = [
        ("platform", c.c_void_p),
        *((name, c.c_uint32) for name in ("channels", "dies", "polls")),
        *((name, c.c_uint8) for name in ("channel", "die", "luns", "row_bits")),
        *((name, c.c_bool) for name in ("enabled_here", "open")),
    ]


class ChipOptions(c.Structure):
    _fields_ = [
        *((name, c.c_uint8) for name in ("fastest", "drive_ohms")),
        *((name, c.c_bool) for name in ("zq_calibration", "sdr", "ready_busy")),
        ("luns", c.c_uint8),
    ]


class Chip(c.Structure):
    _fields_ = [
        *((name, c.c_uint8) for name in ("failure", "mode", "sdr_modes", "luns", "drive")),
        *((name, c.c_uint16) for name in ("planes", "spare_bytes", "optional_commands")),
        *((name, c.c_uint32) for name in ("page_bytes", "pages", "blocks")),
        ("maker", c.c_char * 13), ("model", c.c_char * 21),
    ]  # fmt: skip


TYPES = (
    None, Platform, Stream, Config, Info, Requirements, Request, Zone, Step, Tile, Statistics, Entry, Commit,
    Recovered, BadBlock, CommandPort, Chip, ChipOptions,
)  # fmt: skip
"""In the order of `shim_size`; the device has no type here."""

_U8, _U32, _U64, _P = c.c_uint8, c.c_uint32, c.c_uint64, c.c_void_p
_DATA = [_P, _U8, _U8]

FUNCTIONS = {
    "ft_probe": [_P, _P],
    "ft_requirements": [_P, _P, _P],
    "ft_init": [_P, _P, _P, _P, c.c_size_t],
    "ft_format": [_P, c.c_bool],
    "ft_recover": [_P, _P],
    "ft_shutdown": [_P],
    "ft_disable": [_P],
    "ft_append": [*_DATA, _U32, _U64, _U32, _P],
    "ft_write": [*_DATA, _U64, _U64, _U32],
    "ft_read": [*_DATA, _U64, _U64, _U32],
    "ft_flush": _DATA,
    "ft_stream_reset": _DATA,
    "ft_zone_reset": [*_DATA, _U32],
    "ft_zone_manage": [*_DATA, _U32, _U8],
    "ft_zone_retire": [*_DATA, _U32, _U8],
    "ft_report": [*_DATA, _U32, _P, _U32],
    "ft_submit_append": [_P, *_DATA, _U32, _U64, _U32],
    "ft_submit_write": [_P, *_DATA, _U64, _U64, _U32],
    "ft_submit_read": [_P, *_DATA, _U64, _U64, _U32],
    "ft_submit_flush": [_P, *_DATA],
    "ft_poll": [_P],
    "ft_wait": [_P, _P],
    "ft_drain": [_P],
    "ft_tile_of": [_P, _P, _P],
    "ft_set_constants": [*_DATA, _P, _U64],
    "ft_update": [*_DATA, _U8, _U32, _U32, _P, _U32, _U64, _P],
    "ft_submit_update": [_P, *_DATA, _U8, _U32, _U32, _P, _U32, _U64],
    "ft_get_statistics": [*_DATA, _U64, _P, _U32],
    "ft_commit": [*_DATA, _U8, _P],
    "ft_declare_committed": [_P, _U8, _P],
    "ft_pin": [*_DATA, c.c_bool],
    "ft_annotate": [_P, _U8, _P, _U32],
    "ft_entry_of": [_P, _U8, _P, _P, _U32],
    "ft_port_open": [_P, _P, _U32],
    "ft_port_close": [_P],
    "ft_port_interface": [_P, _U8, c.c_bool],
    "ft_bring_up": [_P, _P, _P, _U32],
    "ft_port_select": [_P, _U8, _U8],
    "ft_port_mode": [_P, _U8],
    "ft_port_command": [_P, _U8],
    "ft_port_address": [_P, _U8],
    "ft_port_write": [_P, _P, _U32],
    "ft_port_read": [_P, _P, _U32],
    "ft_port_ready": [_P, _P],
    "ft_port_was_busy": [_P, _P],
    "ft_port_wait": [_P, _U32],
}
"""Arguments of the functions that return an error."""

OTHERS = {
    "ft_error_text": (c.c_char_p, [c.c_int]),
    "ft_data_address": (_U64, [_P]),
    "ft_zones": (_U32, [_P, _U8]),
    "ft_bad_blocks": (_U32, [_P, _P, _U32]),
    "ft_last_status": (c.c_uint16, [_P]),
    "ft_counter": (_U64, [_P, _U32]),
    "ft_channel_counter": (_U64, [_P, _U32, _U32]),
    "ft_zone_wear": (_U32, [_P, _U32]),
    "shim_size": (c.c_size_t, [c.c_uint]),
    "shim_update_streams": (c.POINTER(Stream), [_P]),
}


@cache
def driver_library() -> c.CDLL:
    """The library, compiled once."""
    files = driver_sources() | {SHIM.name: SHIM.read_text(encoding="utf-8")}
    options = (*OPTIONS, "-O1", "-g", "-fPIC", "-shared")
    folder = BUILD / "cdriver" / content_key(files_key(files), compiler_version(c_compiler()), *options)
    library = folder / "libflashtrain_driver.so"

    def build() -> None:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        units = sorted(folder.glob("*.c"))
        run([c_compiler(), *options, *units, "-o", library], folder / "build.log", "the C driver")

    build_once(folder, build)
    loaded = c.CDLL(str(library.resolve()))
    for name, arguments in FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = c.c_int, arguments
    for name, (result, arguments) in OTHERS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded
