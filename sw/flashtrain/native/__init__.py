"""C++ behind Python: what is compiled once, and how it is found again.

build_cache.py   folders named after the content that was built in them
compiler.py      the C++ compiler of this machine
library.py       sources to a shared library with typed functions
"""
