"""One append passes the files that docs/block-diagram.md lists, and few of them."""

from flashtrain.spec import preset
from tests.tour import (
    MOST_FILES,
    ROOT,
    component_files,
    host_files,
    link_files,
    not_on_the_way,
    tour,
)

TINY = preset("tiny")


def test_few_files():
    files = tour()
    assert len(files) == len(set(files)) <= MOST_FILES
    assert all((ROOT / file).is_file() for file in files)


def test_host_files_are_those_that_run():
    """In their order: a file that runs earlier stands earlier."""
    measured = host_files(TINY)
    assert [file for file in tour() if file in measured] == measured
    assert {file for file in tour() if file.startswith("sw/")} <= set(measured)


def test_all_cpp_of_the_link_is_listed():
    assert {file for file in tour() if file.endswith((".cpp", ".h"))} == set(link_files())


def test_every_component_is_on_the_way_or_not():
    listed = [file for file in (*tour(), *not_on_the_way()) if file.startswith("hw/")]
    assert len(listed) == len(set(listed))
    assert set(listed) >= component_files(TINY)
