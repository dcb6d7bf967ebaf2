"""Random changes by two clients in turn, against a dictionary."""

import random

from flashtrain.spec import ZoneState
from tests.nvme.helpers import served
from tests.objects.helpers import connect
from tests.objects.model import Objects, content, random_change


def test_two_clients_see_the_same(seed):
    """On a small device, so that zones are emptied, data are moved, and the names are compacted."""
    rng = random.Random(seed)
    with served("tiny", node="objects") as target:
        clients = [connect(target), connect(target)]
        model: Objects = {}
        epochs = set()
        for number in range(150):
            change = random_change(rng, model, 8000)
            change.run(rng.choice(clients))
            model = change.after
            one = rng.choice(clients)
            assert one.find("objects") == sorted(model), change.text
            if model:
                path = rng.choice(sorted(model))
                assert one.cat_file(path) == model[path], (change.text, path)
            if number % 30 == 29:
                assert content(one) == model
            epochs.add(one.store.names.epoch)
        for one in clients:
            assert content(one) == model
            one.close()
        assert len(epochs) > 3
        late = connect(target)
        assert content(late) == model
        assert sum(info.state is ZoneState.EMPTY for info in late.store.stream("objects").report()) >= 1
        late.close()
