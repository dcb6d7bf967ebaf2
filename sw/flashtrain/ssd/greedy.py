"""Write amplification of greedy garbage collection under uniform random overwrites, in closed form.

Desnoyers, "Analytic Modeling of SSD Write Performance" (SYSTOR 2012): with many blocks, greedy collection
takes each block as soon as it has v valid pages. A block with i valid pages loses one at a rate that is
proportional to i. So N blocks of n pages, with U valid pages in all, are in balance at

    n * (1/(v+1) + 1/(v+2) + ... + 1/n) = a * (n - v),    a = N * n / U.

The sum is ln((n + 1/2) / (v + 1/2)) but for terms of 1/n^2, which gives v by Lambert's W function:

    v + 1/2 = -n/a * W0(-(1 + 1/(2n)) * a * exp(-(1 + 1/(2n)) * a)),    amplification = n / (n - v).

For large n it becomes a / (a + W0(-a * exp(-a))), which is the form for collection in the order of writing
(LRU; Xiang and Kurkoski, arXiv 1110.4245). It is an upper bound for greedy, which gains from small blocks.
"""

from math import exp

from flashtrain.spec.errors import require, require_range


def lambert_w0(x: float) -> float:
    """The principal branch of Lambert's W, w * exp(w) = x, for -1/e <= x <= 0, by bisection."""
    require(-exp(-1) <= x <= 0, "x", x, "a number from -1/e to 0")
    low, high = -1.0, 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * exp(middle) < x else (low, middle)
    return (low + high) / 2


def greedy_amplification(spare: float, pages: int) -> float:
    """Of blocks of `pages` pages. spare: physical pages for each valid one, `a` above; more than 1."""
    require(spare > 1, "spare", spare, "a number above 1")
    require_range("pages", pages, 1, 1 << 40)
    scaled = (1 + 0.5 / pages) * spare
    valid = max(0.0, -pages / spare * lambert_w0(-scaled * exp(-scaled)) - 0.5)
    return pages / (pages - valid)


def lru_amplification(spare: float) -> float:
    """Of blocks collected in the order in which they were written; greedy is at most that."""
    require(spare > 1, "spare", spare, "a number above 1")
    return spare / (spare + lambert_w0(-spare * exp(-spare)))
