"""Checks of the fields of an image's records: what each of them may be, whatever their checksum says."""

from enum import IntFlag

from flashtrain.spec.image import (
    MOST_COUNT,
    MOST_GENERATION,
    MOST_SECONDS,
    BlockFlag,
    BlockRecord,
    DieFlag,
    PageRecord,
    PageState,
    StreamRecord,
)


def fault_of_time(name: str, seconds: float) -> str | None:
    """The fault of a time in words; None without one."""
    if 0 <= seconds <= MOST_SECONDS:
        return None
    return f"{name} is {seconds}; expected seconds from 0 to {MOST_SECONDS:,}"


def fault_of_die(flags: int) -> str | None:
    return _flags(flags, DieFlag)


def fault_of_block(record: BlockRecord) -> str | None:
    return (
        _count("erases", record.erases, MOST_COUNT)
        or _count("reads", record.reads, MOST_COUNT)
        or _flags(record.flags, BlockFlag)
    )


def fault_of_page(record: PageRecord) -> str | None:
    if record.state not in (PageState.WHOLE, PageState.TORN):
        states = ", ".join(f"{int(state)} ({state.name})" for state in PageState)
        return f"state is {record.state}; expected {states}"
    return fault_of_time("time", record.time)


def fault_of_stream(record: StreamRecord) -> str | None:
    """A drop and a release have a number up to the generation of new handles."""
    if fault := _count("generation", record.generation, MOST_GENERATION):
        return fault
    for name in ("drop", "released"):
        if fault := _count(name, getattr(record, name), record.generation):
            return f"{fault}, the generation"
    return None


def fault_of_drop(drop: int) -> str | None:
    return _count("drop", drop, MOST_GENERATION)


def _count(name: str, value: int, most: int) -> str | None:
    return None if value <= most else f"{name} is {value:,}; expected at most {most:,}"


def _flags(value: int, known: type[IntFlag]) -> str | None:
    if not value:
        return None
    every = sum(known)
    return None if not value & ~every else f"flags are {value:#x}; expected bits of {every:#x}"
