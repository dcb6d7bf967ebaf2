"""Error correction of pages by the BCH code of `flashtrain.spec.ecc` (docs/ecc.md).

encoder.py     a page's beats in, the same and parity out
decoder.py     a page's beats in, corrections and verdicts out:
  syndromes.py   keeps up with the beats
  corrector.py   the rest, for one stream of pages or for several:
    solver.py      where the errors are, as an equation
    search.py      its solutions
page_walk.py   which code word a beat belongs to
field.py       arithmetic of the field; layouts.py: what passes between the units
"""
