"""Job files as fio has them: sections of `option=value` lines.

The options of a section `[global]` hold for all jobs behind it. Each other section is a job, with the name of
the section. A line that begins with `;` or `#` is a comment. An option without a value is set to 1.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashtrain.reading import read_text

from .errors import JobError
from .job import COMMAND_LINE, Job
from .options import OPTIONS, Option, job_of

GLOBAL = "global"


def load_jobs(path: Path, over: Mapping[str, str]) -> list[Job]:
    """The jobs of a file; the options of `over`, from the command line, replace those of all sections.

    :class:`JobError` names the file, the section and the option; :class:`InputError` for another file.
    """
    lines = read_text(path).splitlines()
    above, common, sections = _values(over), {}, []
    name, values = "", {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text[0] in ";#":
            continue
        if text[0] == "[":
            name = text[1:-1].strip()
            if text[-1] != "]" or not name:
                raise JobError(f"{path}:{number}", "", f"{text!r}; expected [NAME]")
            values = common if name == GLOBAL else dict(common)
            if name != GLOBAL:
                sections.append((name, values))
            continue
        if not name:
            raise JobError(f"{path}:{number}", "", f"{text!r} before any section; expected [NAME]")
        place = f"{path}: [{name}]"
        key, _equals, value = (part.strip() for part in text.partition("="))
        option = _option(key, place)
        values[key] = option.value(value, place)
    if not sections:
        raise JobError(str(path), "", f"has no job; expected a section besides [{GLOBAL}]")
    return [job_of({**values, **above}, name, f"{path}: [{name}]") for name, values in sections]


def command_line_job(options: Mapping[str, str]) -> Job:
    """The one job of the command line's options."""
    values = _values(options)
    return job_of(values, values.get("rw", OPTIONS["rw"].parse("read")).name, COMMAND_LINE)


def _values(options: Mapping[str, str]) -> dict[str, Any]:
    return {key: _option(key, COMMAND_LINE).value(text, COMMAND_LINE) for key, text in options.items()}


def _option(key: str, place: str) -> Option:
    if key not in OPTIONS:
        raise JobError(place, key, f"no such option; expected one of {', '.join(OPTIONS)}")
    return OPTIONS[key]
