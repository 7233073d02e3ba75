"""Nanoseconds of a small op in PyTorch on the CPU, which records it for gradients: a baseline of frameworks.h.

Usage: pytorch_eager.py OPS CHAINS
The ops are a chain y = y * x + x of 16 numbers.
"""

import sys
import time
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch


def chain(x, ops):
    y = x
    for _ in range(ops // 2):
        y = y * x + x
    return y


def main():
    ops, chains = int(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    x = torch.rand(16, requires_grad=True)
    chain(x, ops)
    start = time.perf_counter()
    for _ in range(chains):
        chain(x, ops)
    print(1e9 * (time.perf_counter() - start) / (ops * chains))


if __name__ == "__main__":
    main()
