"""The tests that fsspec has for file systems: copies, transfers, patterns, and exclusive writes."""

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


class TestCopy(abstract.AbstractCopyTests, Fixtures):
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):
    pass


class TestOpen(abstract.AbstractOpenTests, Fixtures):
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):
    pass
