"""Error correction of pages by the BCH code of `flashtrain.spec.ecc` (docs/ecc.md).

encoder.py     a page's beats in, the same and parity out
decoder.py     a page's beats in, corrections and verdicts out:
  syndromes.py   as fast as the beats
  corrector.py   the rest, for one stream of pages or for several:
    solver.py      the error locator
    search.py      its roots
code_words.py  the position of a beat in the code words, and a store of a value per word
field.py       arithmetic of the field; layouts.py: structs between the units
"""
