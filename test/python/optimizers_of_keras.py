"""Prints test/kernels/support/keras_optimizers.h: what the optimizers of Keras make of the variable and gradients of
optimizer_trajectories.py.

  python3 -m venv /tmp/keras && /tmp/keras/bin/pip install keras jax
  /tmp/keras/bin/python optimizers_of_keras.py > ../kernels/support/keras_optimizers.h

Written with Keras 3.15.1 on NumPy, a backend that needs jax and rounds much to float32, float64 or not. Where ours
differ by design:
  adamw  Keras has epsilon beside the root that is not corrected ("epsilon hat"); ours, as PyTorch's, beside the
         corrected one. With 1e-6 that is less than 1e-6 of a value.
  lamb   Keras decays weights outside of the trust ratio; ours, as the paper, within. So nothing decays here.
  muon   Keras scales by the square root of the longer side times rms_rate (Moonlight); ours by the square root of
         outputs / inputs, 4 / 3 here, if above 1 (Jordan). The rms_rate is the one with which both are the same.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "numpy")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from optimizer_trajectories import COLUMNS, ROWS, START, STEPS, gradient, print_run  # noqa: E402

optimizers = keras.optimizers


def values_of(optimizer):
    variable = keras.Variable(START, dtype="float32")
    optimizer.build([variable])
    for step in range(STEPS):
        optimizer.apply([gradient(step).astype("float32")], [variable])
        yield keras.ops.convert_to_numpy(variable)


RUNS = {
    "adamw": ((0.01, 0.9, 0.99, 1e-6, 0.1), lambda lr, b1, b2, eps, decay: optimizers.AdamW(
        lr, beta_1=b1, beta_2=b2, epsilon=eps, weight_decay=decay)),
    "lion": ((0.01, 0.9, 0.97, 0.1), lambda lr, b1, b2, decay: optimizers.Lion(
        lr, beta_1=b1, beta_2=b2, weight_decay=decay)),
    "ftrl": ((0.1, 0.2, 0.3, 0.05), lambda lr, initial, l1, l2: optimizers.Ftrl(
        lr, initial_accumulator_value=initial, l1_regularization_strength=l1, l2_regularization_strength=l2)),
    "lamb": ((0.01, 0.9, 0.99, 1e-6, 0.0), lambda lr, b1, b2, eps, decay: optimizers.Lamb(
        lr, beta_1=b1, beta_2=b2, epsilon=eps)),
    "muon": ((0.02, 0.9, 0.1), lambda lr, momentum, decay: optimizers.Muon(
        lr, momentum=momentum, weight_decay=decay, rms_rate=np.sqrt(COLUMNS / ROWS / max(ROWS, COLUMNS)))),
}

print(f"""// Made by test/python/optimizers_of_keras.py with Keras {keras.version()}; do not edit.
#pragma once

#include "test/kernels/support/optimizer_trajectories.h"

namespace actorflow::test {{

// As optimizer_trajectories.
inline const std::vector<Trajectory> keras_optimizers = {{""")
for name, (parameters, make) in RUNS.items():
    print_run(name, parameters, values_of(make(*parameters)))
print("};\n\n}  // namespace actorflow::test")
