"""Prints test/kernels/support/optimizer_trajectories.h: the values of a small variable after each of five steps.

Written from the published formulas, in NumPy and float64, independently of kernels/update/:
  adamw  Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019, algorithm 2, with PyTorch's order
         (decay first) and its epsilon beside the corrected root
  lion   Chen et al., Symbolic Discovery of Optimization Algorithms, 2023, algorithm 2
  ftrl   McMahan et al., Ad Click Prediction, 2013, algorithm 1, with TensorFlow's initial accumulator
  lamb   You et al., Large Batch Optimization for Deep Learning, 2020, algorithm 2, phi the identity
  muon   Jordan et al., 2024, https://kellerjordan.github.io/posts/muon; weights are [in, out] here

  python optimizer_trajectories.py > ../kernels/support/optimizer_trajectories.h
  python optimizer_trajectories.py --optax    compares with optax (pip install optax) and prints the largest difference
"""

import sys

import numpy as np

ROWS, COLUMNS, STEPS = 3, 4, 5
PLACES = np.arange(ROWS * COLUMNS, dtype=np.float64).reshape(ROWS, COLUMNS)
START = np.cos(PLACES)


def gradient(step):
    return np.sin(PLACES + 0.7 * step)


def adamw(lr, b1, b2, eps, decay):
    w, m, v = START.copy(), 0 * START, 0 * START
    for t in range(1, STEPS + 1):
        g = gradient(t - 1)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        w = w * (1 - lr * decay)
        w = w - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)
        yield w


def lion(lr, b1, b2, decay):
    w, m = START.copy(), 0 * START
    for t in range(STEPS):
        g = gradient(t)
        w = w - lr * (np.sign(b1 * m + (1 - b1) * g) + decay * w)
        m = b2 * m + (1 - b2) * g
        yield w


def ftrl(lr, initial, l1, l2):
    w, n, z = START.copy(), np.full_like(START, initial), 0 * START
    for t in range(STEPS):
        g = gradient(t)
        sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / lr
        z, n = z + g - sigma * w, n + g**2
        w = np.where(np.abs(z) <= l1, 0, -(z - np.sign(z) * l1) / (np.sqrt(n) / lr + 2 * l2))
        yield w


def lamb(lr, b1, b2, eps, decay):
    w, m, v = START.copy(), 0 * START, 0 * START
    for t in range(1, STEPS + 1):
        g = gradient(t - 1)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        r = (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps) + decay * w
        w = w - lr * np.linalg.norm(w) / np.linalg.norm(r) * r
        yield w


def orthogonalized(x):
    x = x / (np.linalg.norm(x) + 1e-7)
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x


def muon(lr, momentum, decay):
    w, b = START.copy(), 0 * START
    for t in range(STEPS):
        g = gradient(t)
        b = momentum * b + (1 - momentum) * g
        u = orthogonalized(momentum * b + (1 - momentum) * g)
        w = w * (1 - lr * decay) - lr * np.sqrt(max(1, COLUMNS / ROWS)) * u
        yield w


RUNS = {
    "adamw": (adamw, (0.01, 0.9, 0.99, 1e-6, 0.1)),
    "lion": (lion, (0.01, 0.9, 0.97, 0.1)),
    "ftrl": (ftrl, (0.1, 0.2, 0.3, 0.05)),
    "lamb": (lamb, (0.01, 0.9, 0.99, 1e-6, 0.1)),
    "muon": (muon, (0.02, 0.9, 0.1)),
}


def print_run(name, parameters, values):
    print('    {"%s",\n     {%s},\n     {' % (name, ", ".join(map(repr, parameters))))
    for w in values:
        print("         {%s}," % ", ".join("%.17g" % value for value in w.ravel()))
    print("     }},")


def print_header():
    print("// Made by test/python/optimizer_trajectories.py, which says from what formulas; do not edit.")
    print("#pragma once\n\n#include <string>\n#include <vector>\n")
    print("namespace actorflow::test {\n")
    print("// A variable of %d rows and %d columns begins as cos(place); gradient number i, from 0 on, is" % (ROWS, COLUMNS))
    print("// sin(place + 0.7 i). `values` are its elements after each step.")
    print("struct Trajectory {\n  std::string optimizer;\n  std::vector<double> hyperparameters;\n"
          "  std::vector<std::vector<double>> values;\n};\n")
    print("inline const std::vector<Trajectory> optimizer_trajectories = {")
    for name, (run, parameters) in RUNS.items():
        print_run(name, parameters, run(*parameters))
    print("};\n\n}  // namespace actorflow::test")


def compare_with_optax():
    import jax
    jax.config.update("jax_enable_x64", True)
    import optax
    peers = {
        "adamw": lambda lr, b1, b2, eps, decay: optax.adamw(lr, b1, b2, eps, weight_decay=decay),
        "lion": lambda lr, b1, b2, decay: optax.lion(lr, b1, b2, weight_decay=decay),
        "lamb": lambda lr, b1, b2, eps, decay: optax.lamb(lr, b1, b2, eps, weight_decay=decay),
    }
    for name, make in peers.items():
        run, parameters = RUNS[name]
        peer = make(*parameters)
        w = jax.numpy.asarray(START)
        state, worst = peer.init(w), 0
        for step, expected in enumerate(run(*parameters)):
            update, state = peer.update(jax.numpy.asarray(gradient(step)), state, w)
            w = optax.apply_updates(w, update)
            worst = max(worst, float(np.abs(np.asarray(w) - expected).max()))
        print(name, worst)


if __name__ == "__main__":
    compare_with_optax() if sys.argv[1:] == ["--optax"] else print_header()
