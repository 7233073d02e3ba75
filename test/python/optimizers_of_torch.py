"""Prints test/kernels/support/torch_optimizers.h: what PyTorch's optimizers make of the variable and gradients of
optimizer_trajectories.py, in float64.

  python3 -m venv /tmp/torch && /tmp/torch/bin/pip install numpy torch
  /tmp/torch/bin/python optimizers_of_torch.py > ../kernels/support/torch_optimizers.h

Where ours differ by design:
  adam     PyTorch has epsilon beside the corrected root; ours, as TensorFlow's, beside the one that is not ("epsilon
           hat"). With 1e-8 that is less than 1e-6 of a value.
  rmsprop  PyTorch begins with a mean square of 0 and has epsilon beside the root; ours, as TensorFlow's, with 1 and
           within. So PyTorch is given a mean square of 1 here.
  adagrad  ours has no epsilon; PyTorch's is 1e-10.
  muon     Weights are [in, out] here and [out, in] there. Ours adds epsilon to the norm by which it divides; PyTorch's
           is the least such norm. PyTorch orthogonalizes in bfloat16, in which nothing but rounding is in the third
           direction of these gradients, matrices of rank 2; so it computes in float64 here.
"""

from unittest import mock

import numpy as np
import torch
from optimizer_trajectories import START, STEPS, gradient, print_run

optimizers = torch.optim


def values_of(make, prepare=lambda optimizer, variable: None, transposed=False):
    turned = np.transpose if transposed else np.asarray
    variable = torch.nn.Parameter(torch.tensor(turned(START).copy()))
    optimizer = make([variable])
    prepare(optimizer, variable)
    for step in range(STEPS):
        variable.grad = torch.tensor(turned(gradient(step)).copy())
        optimizer.step()
        yield turned(variable.detach().numpy())


def with_mean_square_of_1(optimizer, variable):
    zeros = torch.zeros_like(variable.data)
    optimizer.state[variable] = {"step": torch.tensor(0.0), "square_avg": zeros + 1, "momentum_buffer": zeros}


def sgd(lr):
    return values_of(lambda p: optimizers.SGD(p, lr))


def momentum(lr, keep):
    return values_of(lambda p: optimizers.SGD(p, lr, momentum=keep))


def nesterov(lr, keep):
    return values_of(lambda p: optimizers.SGD(p, lr, momentum=keep, nesterov=True))


def adagrad(lr, initial):
    return values_of(lambda p: optimizers.Adagrad(p, lr, initial_accumulator_value=initial))


def adam(lr, b1, b2, eps):
    return values_of(lambda p: optimizers.Adam(p, lr, (b1, b2), eps))


def rmsprop(lr, decay, keep, eps):
    return values_of(lambda p: optimizers.RMSprop(p, lr, alpha=decay, momentum=keep, eps=eps), with_mean_square_of_1)


def adamw(lr, b1, b2, eps, decay):
    return values_of(lambda p: optimizers.AdamW(p, lr, (b1, b2), eps, weight_decay=decay))


def muon(lr, keep, decay):
    with mock.patch.object(torch, "bfloat16", torch.float64):
        yield from values_of(lambda p: optimizers.Muon(p, lr, momentum=keep, weight_decay=decay), transposed=True)


RUNS = {
    "sgd": (sgd, (0.1,)),
    "momentum": (momentum, (0.05, 0.9)),
    "nesterov": (nesterov, (0.05, 0.9)),
    "adagrad": (adagrad, (0.1, 0.1)),
    "adam": (adam, (0.01, 0.9, 0.99, 1e-8)),
    "rmsprop": (rmsprop, (0.01, 0.9, 0.5, 1e-10)),
    "adamw": (adamw, (0.01, 0.9, 0.99, 1e-6, 0.1)),
    "muon": (muon, (0.02, 0.9, 0.1)),
}

print(f"""// Made by test/python/optimizers_of_torch.py with PyTorch {torch.__version__}; do not edit.
#pragma once

#include "test/kernels/support/optimizer_trajectories.h"

namespace actorflow::test {{

// As optimizer_trajectories.
inline const std::vector<Trajectory> torch_optimizers = {{""")
for name, (run, parameters) in RUNS.items():
    print_run(name, parameters, run(*parameters))
print("};\n\n}  // namespace actorflow::test")
