"""The tests that fsspec has for file systems: copies, transfers, patterns, and exclusive writes.

`--long 1` adds the 96 cases of patterns.
"""

import posixpath

import pytest
from fsspec.tests import abstract

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestCollectionWarning")


class Fixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, fs):
        return fs

    @pytest.fixture
    def fs_join(self):
        return posixpath.join

    @pytest.fixture
    def fs_path(self):
        return "objects/tests"


class TestCopy(Fixtures, abstract.AbstractCopyTests):
    test_copy_glob_edge_cases = pytest.mark.long(abstract.AbstractCopyTests.test_copy_glob_edge_cases)


class TestGet(Fixtures, abstract.AbstractGetTests):
    test_get_glob_edge_cases = pytest.mark.long(abstract.AbstractGetTests.test_get_glob_edge_cases)


class TestPut(Fixtures, abstract.AbstractPutTests):
    test_put_glob_edge_cases = pytest.mark.long(abstract.AbstractPutTests.test_put_glob_edge_cases)


class TestOpen(Fixtures, abstract.AbstractOpenTests):
    pass


class TestPipe(Fixtures, abstract.AbstractPipeTests):
    pass
