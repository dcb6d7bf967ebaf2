"""The digest of the code: every file counts that can be imported, and no other."""

import pytest

from flashtrain.sweep.source import digest_of, source_digest


@pytest.fixture
def portions(tmp_path):
    for portion, package in (("first", "a"), ("first", "b"), ("second", "b"), ("second", "c")):
        folder = tmp_path / portion / package / "inner"
        folder.mkdir(parents=True)
        (folder / "code.py").write_text(f"{portion} {package}", encoding="utf-8")
    return [tmp_path / "first", tmp_path / "second"]


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("first/a/inner/code.py", True),
        ("first/b/new.cpp", True),
        ("second/b/inner/code.py", False),
        ("second/c/inner/code.py", True),
        ("first/a/inner/notes.txt", False),
    ],
)
def test_a_change_counts(file, counts, portions):
    before = digest_of(portions)
    (portions[0].parent / file).write_text("other text", encoding="utf-8")
    assert (digest_of(portions) != before) == counts
    assert len(before) == len(source_digest()) == 12
