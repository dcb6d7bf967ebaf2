"""Several threads use one catalogue."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from flashtrain.host import NameMissing, StaleView


@pytest.fixture
def eager_switches():
    """Threads are switched as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_writers_and_readers(catalog, eager_switches):
    """A reader finds one assignment or another, whole, while arrays are replaced and moved."""
    names = [str(number) for number in range(4)]
    catalog.update({name: np.zeros(150, np.int64) for name in names})

    def write(name):
        for value in range(12):
            catalog[name] = np.full(150, value)
            if value % 4 == 3:
                catalog.rename(name, "other" + name)
                catalog.rename("other" + name, name)
        return True

    def read(name):
        for _ in range(40):
            try:
                array = catalog[name]
                part = catalog.view(name)[100:140]
            except (NameMissing, StaleView):  # it is being renamed, or was just replaced
                continue
            if len(set(array)) != 1 or len(set(part)) != 1:
                return False
        return True

    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, name) for name in names]
        readers = [pool.submit(read, name) for name in names[:2]]
        assert all(future.result(timeout=120) for future in writers + readers)
    assert all((catalog[name] == 11).all() for name in names) and len(catalog) == 4
