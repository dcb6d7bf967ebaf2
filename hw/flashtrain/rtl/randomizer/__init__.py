"""Keys of the randomizer (`flashtrain.spec.randomizer`).

word_key.py    the key of a word, combinationally: what a die has (`die/update/tile_randomizer.py`)
keystream.py   keys of a page's beats, in their order: what a channel has
"""
