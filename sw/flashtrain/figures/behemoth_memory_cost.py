"""Behemoth's memory cost against a platform with HBM."""

from flashtrain.figures.drives import PRICE
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import BEHEMOTH, Assumption, Chart, Comparison, Content, Series, Table, Values

PRICES = f"{BEHEMOTH}, footnote of the comparison"


class BehemothMemoryCost(PublishedFigure):
    name = "behemoth-memory-cost"
    title = "Memory cost of Behemoth"
    headline_name = "cost of HBM over that of flash and DRAM"
    drives = {"nand_gb": ("drives_tb", 1000.0), "nand_price": (PRICE.name, 1.0)}
    assumptions = (
        Assumption("hbm_gb", 256, 128, 512, "GB", "of equal throughput; not published: eight chips of 32 GB"),
        Assumption("nand_gb", 2000, 1000, 4000, "GB", "FMS of the slides"),
        Assumption("ddr_gb", 16, 8, 64, "GB", "tensor buffer; not published"),
        Assumption("hbm_price", 20, 10, 30, "$/GB", PRICES),
        Assumption("nand_price", 0.67, 0.4, 1, "$/GB", PRICES),
        Assumption("ddr_price", 4, 2, 6, "$/GB", PRICES),
    )

    def headline(self, values: Values) -> float:
        costs = _costs(values)
        return costs["hbm"] / (costs["nand"] + costs["ddr"])

    def content(self, values: Values) -> Content:
        v = values
        costs = _costs(values)
        sizes = tuple(float(gb) for gb in range(64, 577, 64))
        return Content(
            comparisons=(
                Comparison(
                    "memory cost of a TPUv3-like platform over Behemoth's",
                    self.headline(values),
                    "times",
                    3.65,
                    f"{BEHEMOTH}: up to 3.65",
                ),
            ),
            charts=(
                Chart(
                    "Memory cost over the HBM that has the same throughput",
                    "times",
                    (Series("ours", sizes, tuple(self.headline({**v, "hbm_gb": gb}) for gb in sizes)),),
                    "GB of HBM",
                    levels={"published, 3.65": 3.65},
                ),
            ),
            tables=(
                Table(
                    "Costs",
                    ("memory", "GB", "$/GB", "$"),
                    tuple((n.upper(), v[f"{n}_gb"], v[f"{n}_price"], costs[n]) for n in costs),
                ),
            ),
            notes=(
                "The prices are published, and the capacities of HBM and DRAM are not. Round numbers were"
                " chosen with which the published ratio comes out. The page thus shows that the ratio is"
                " consistent with such a platform, and no more.",
            ),
        )


def _costs(values: Values) -> dict[str, float]:
    """Dollars, by memory."""
    return {name: values[f"{name}_gb"] * values[f"{name}_price"] for name in ("hbm", "nand", "ddr")}
