"""Matrix products that do not depend on the number of cores: one BLAS thread."""

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits


def one_thread() -> AbstractContextManager[object]:
    """Matrix products by one thread inside the `with` statement.

    With several, the order of their additions may follow the number of cores; and for products of this size
    the threads cost more than they save, above all next to a simulator that has the cores busy.
    """
    return threadpool_limits(limits=1, user_api="blas")
