"""Exceptions of the contract."""

from typing import TypeGuard

from flashtrain.reading import FlashtrainError


class ConfigError(FlashtrainError, ValueError):
    """A configuration value is out of range; the message names the field, its value and what was expected."""


class ToolError(FlashtrainError, RuntimeError):
    """An external tool is missing or has failed; the message ends with what it printed."""


def require(condition: bool, field: str, value: object, expected: str) -> None:
    """Raise :class:`ConfigError` unless `condition` holds."""
    if not condition:
        shown = repr(value) if isinstance(value, str) else str(value)
        raise ConfigError(f"{field} is {shown}; expected {expected}")


def require_power_of_two(field: str, value: object, least: int, most: int) -> None:
    """Raise :class:`ConfigError` unless `value` is a power of two from `least` to `most`."""
    require(
        _is_integer(value) and least <= value <= most and value & (value - 1) == 0,
        field, value, f"a power of two from {least} to {most}",
    )  # fmt: skip


def require_range(field: str, value: object, least: int, most: int) -> None:
    """Raise :class:`ConfigError` unless `value` is an integer from `least` to `most`."""
    require(_is_integer(value) and least <= value <= most, field, value, f"an integer from {least} to {most}")


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
