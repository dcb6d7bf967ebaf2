"""C++ behind Python: what is compiled once, and how it is found again.

build_cache.py    keys of content, and folders of the tree that are built once
user_cache.py     the cache of the user, for what all folders share
cache_record.py   the record of an entry in it
entry_locks.py    locks of entries between processes
compiler.py       the C and C++ compilers of this machine
library.py        sources to a shared library with typed functions
"""
