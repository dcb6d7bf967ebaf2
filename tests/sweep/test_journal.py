"""The journal survives a kill at any byte, and takes no other file for its own."""

import gzip

import pytest

from flashtrain.reading import InputError
from flashtrain.sweep.errors import JournalError
from flashtrain.sweep.journal import HEADER, Journal
from flashtrain.sweep.point import Outcome
from flashtrain.writing import OutputError

OUTCOMES = [
    Outcome(f"{number:032x}", "code", 0.5, {"value": 0.1 + number, "note": "µ", "met": None})
    for number in range(3)
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "new" / "a.journal"
    with Journal(path) as journal:
        for outcome in OUTCOMES:
            journal.add(outcome)
            journal.add(outcome)
    return path


def test_outcomes_come_back(path):
    with Journal(path) as journal:
        assert list(journal.outcomes.values()) == OUTCOMES


def test_a_kill_at_a_byte_loses_only_the_line_that_was_written(path):
    content = path.read_bytes()
    for length in [*range(0, len(content), 7), len(content) - 1, len(content)]:
        path.write_bytes(content[:length])
        whole = max(content[:length].count(b"\n") - 1, 0)
        with Journal(path) as journal:
            assert list(journal.outcomes.values()) == OUTCOMES[:whole]
            journal.add(OUTCOMES[2])
        with Journal(path) as journal:
            assert OUTCOMES[2].key in journal.outcomes and len(journal.outcomes) == min(whole + 1, 3)


def test_fresh_drops_all(path):
    with Journal(path, fresh=True) as journal:
        assert not journal.outcomes
    assert path.read_bytes() == HEADER


@pytest.mark.parametrize("content", [b"Chapter 1\n", gzip.compress(HEADER)], ids=["text", "gzip"])
def test_another_file_stays_as_it_is(tmp_path, content):
    path = tmp_path / "thesis.journal"
    path.write_bytes(content)
    for fresh in (False, True):
        with pytest.raises(InputError, match="expected a journal of flashtrain sweep"):
            Journal(path, fresh)
    assert path.read_bytes() == content


def test_a_place_that_takes_no_journal(tmp_path, path):
    """A planted link leads nowhere; a folder and a full disk are named."""
    victim, link = tmp_path / "victim", tmp_path / "link.journal"
    link.symlink_to(victim)
    with pytest.raises(OutputError, match=r"link.journal: is a symbolic link; expected a file"):
        Journal(link)
    assert not victim.exists()
    with pytest.raises(OutputError, match="is a folder; expected a file to write"):
        Journal(tmp_path)
    with Journal(path) as journal, open("/dev/full", "ab+", buffering=0) as full:
        journal._file.close()
        journal._file = full
        with pytest.raises(OutputError, match=r"a.journal: cannot be written: No space left on device"):
            journal.add(Outcome("f" * 32, "code", 0.5, {}))


@pytest.mark.parametrize("line", ["{}", "[]", "nonsense"])
def test_a_line_that_is_no_outcome_is_named(path, line):
    path.write_bytes(path.read_bytes() + f"{line}\n".encode())
    with pytest.raises(InputError, match=":5: expected an outcome of a point"):
        Journal(path)


def test_two_sweeps_do_not_share_a_journal(path):
    with Journal(path), pytest.raises(JournalError, match="another sweep writes this journal"):
        Journal(path)
