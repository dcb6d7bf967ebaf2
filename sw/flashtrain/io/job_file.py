"""Job files as fio has them: sections of `option=value` lines.

The options of a section `[global]` hold for all jobs behind it. Each other section is a job, with the name of
the section. A text behind `;` or `#` is a comment. An option without a value is set to 1. `${NAME}` is a
variable of the environment, where the option has a meaning. `include FILE` stands for the lines of that file.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from flashtrain.reading import read_text

from .errors import JobError
from .fio import ALIASES, IGNORED, REFUSED, engine_reason, is_off
from .job import COMMAND_LINE, Job
from .options import OPTIONS, job_of

GLOBAL = "global"
MOST_INCLUDES = 8
"""Files within files."""
MOST_FILES = 64
"""Included files together: of two that include each other twice there would be 256."""
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


class Line(NamedTuple):
    """A line of a job file without comment and blanks, and its place."""

    place: str
    text: str


@dataclass
class Values:
    """Options that are set: values by the job's fields, and names of those that have no meaning here."""

    by_field: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)

    def copy(self) -> "Values":
        return Values(dict(self.by_field), dict(self.places), dict(self.ignored))

    def job(self, name: str, place: str, above: "Values | None" = None) -> Job:
        """The job of these values and of those `above`, which replace them."""
        above = above or Values()
        return job_of(
            {**self.by_field, **above.by_field}, name=name, place=place,
            places={**self.places, **above.places}, ignored=(*{**self.ignored, **above.ignored},),
        )  # fmt: skip

    def set(self, key: str, text: str, place: str) -> None:
        """Set an option by fio's name for it; :class:`JobError` for one that cannot be honoured."""
        name = ALIASES.get(key, key)
        if name in OPTIONS:
            option = OPTIONS[name]
            self.by_field[option.sets] = option.value(_expanded(text, place, key), place)
            self.places |= dict.fromkeys((name, option.sets), place)
            return
        if name in REFUSED:
            if not is_off(name, _expanded(text, place, key)):
                reason = f"is refused: {REFUSED[name]}; expected 0, or no such option"
                raise JobError(place, key, reason)
            return
        if name not in IGNORED:
            names = ", ".join(OPTIONS)
            raise JobError(place, key, f"no such option; expected one of fio's, or of {names}")
        if name == "ioengine" and (reason := engine_reason(text)):
            raise JobError(place, key, f"is {text!r}: {reason}")
        self.ignored[name] = None


def load_jobs(path: Path, over: Mapping[str, str]) -> list[Job]:
    """The jobs of a file; the options of `over`, from the command line, replace those of all sections.

    :class:`JobError` names file, line, section and option; :class:`InputError` for what is no text file.
    """
    above, common = _values(over), Values()
    sections: list[tuple[str, str, Values]] = []
    name, values = "", common
    for place, text in _lines(path, 0, count(1)):
        if text[0] == "[":
            name = text[1:-1].strip()
            if text[-1] != "]" or not name:
                raise JobError(place, "", f"{text!r}; expected [NAME]")
            values = common if name == GLOBAL else common.copy()
            if name != GLOBAL:
                sections.append((name, f"{place}: [{name}]", values))
            continue
        if not name:
            raise JobError(place, "", f"{text!r} before any section; expected [NAME]")
        key, _equals, value = (part.strip() for part in text.partition("="))
        values.set(key, value, f"{place}: [{name}]")
    if not sections:
        raise JobError(str(path), "", f"has no job; expected a section besides [{GLOBAL}]")
    return _in_order([values.job(name, place, above) for name, place, values in sections])


def command_line_job(options: Mapping[str, str]) -> Job:
    """The one job of the command line's options."""
    values = _values(options)
    name = values.by_field.get("rw", OPTIONS["rw"].parse("read")).name
    return _in_order([values.job(name, COMMAND_LINE)])[0]


def _in_order(jobs: list[Job]) -> list[Job]:
    """The jobs; :class:`JobError` for one that waits for none before it."""
    before: set[str] = set()
    for job in jobs:
        if job.wait_for and job.wait_for not in before:
            raise job.error("wait_for", f"is {job.wait_for!r}; expected the name of a job before it")
        before.add(job.name)
    return jobs


def _values(options: Mapping[str, str]) -> Values:
    values = Values()
    for key, text in options.items():
        values.set(key, text, COMMAND_LINE)
    return values


def _lines(path: Path, depth: int, included_files: Iterator[int]) -> Iterator[Line]:
    """The lines of a file and of those that it includes, which are relative to its folder."""
    if depth > MOST_INCLUDES:
        raise JobError(str(path), "include", f"more than {MOST_INCLUDES} files within each other")
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = re.split("[;#]", line, maxsplit=1)[0].strip()
        word, _, rest = text.partition(" ")
        if word == "include":
            included = path.parent / rest.strip()
            if not included.is_file():
                raise JobError(f"{path}:{number}", "include", f"no file {str(included)!r}")
            if next(included_files) > MOST_FILES:
                raise JobError(f"{path}:{number}", "include", f"more than {MOST_FILES} files")
            yield from _lines(included, depth + 1, included_files)
        elif text:
            yield Line(f"{path}:{number}", text)


def _expanded(text: str, place: str, key: str) -> str:
    def value(match: re.Match[str]) -> str:
        if (found := os.environ.get(match[1])) is None:
            raise JobError(place, key, f"${{{match[1]}}} is not set in the environment")
        return found

    return _VARIABLE.sub(value, text)
