"""`FlashOptimizer` on every Link with optimizer steps on its dies: loss scaling, clipping, a checkpoint."""

import numpy as np

from flashtrain.numerics import copy_of, gradient_values
from flashtrain.numerics.float32 import to_bfloat16
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.training.flash_optimizer import FlashOptimizer
from flashtrain.training.optimizers import AdamW

SCALE = 1024.0


def test_steps_of_a_trainer(update_device, seed):
    random = np.random.default_rng(seed)
    optimizer = AdamW(0.01, weight_decay=0.1)
    w = random.standard_normal(700).astype(np.float32)
    expected, state = w.copy(), optimizer.initial_state(w)
    flash = FlashOptimizer([w], optimizer, update_device, GradientFormat.BF16, CopyFormat.BF16)
    checkpoint = None
    t = 0
    for step in range(5):
        g = to_bfloat16((random.standard_normal(700) * SCALE).astype(np.float32))
        if step == 1:
            g[699] = 0x7F80  # infinity
        if step == 4:
            checkpoint, kept = flash.pin(), expected.copy()
        report = flash.step([g], unscale=1 / SCALE, max_norm=10.0)
        assert report.skipped == (step == 1)
        if not report.skipped:
            t += 1
            clip = 10.0 / (report.norm + 1e-6)
            assert clip < 1
            expected, state = optimizer.step(expected, g, state, t, unscale=1 / SCALE, clip=clip)
            copies = copy_of(expected, CopyFormat.BF16)
            assert copies is not None and w.tobytes() == gradient_values(copies).tobytes()
        saved = flash.state_dict()["state"][0]
        assert saved["step"] == t
        assert saved["w"].tobytes() == expected.tobytes()
        assert all(saved[name].tobytes() == state[name].tobytes() for name in ("m", "v"))
    assert checkpoint is not None
    assert flash.weights(checkpoint)[0].tobytes() == kept.tobytes()
