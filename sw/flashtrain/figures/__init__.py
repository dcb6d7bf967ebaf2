"""The published headlines of Behemoth and OptimStore, each beside ours, as pages with figures.

`FIGURES` has them by name, and `write.write_figure` writes one. Each assumption is a named parameter, and the
page shows how much the result depends on it.
"""
