"""Prints README.md's first table from results of bench/run.

Usage: readme_table.py RESULTS.json ...
Each file is one that --json wrote: bench/peers keeps build/peers/results.json, bench/run_gpu
build/gpu-results/benchmarks.json. A line for which no file has a figure is left out.
"""

import json
import sys

# What the README calls it, and the benchmarks beside TensorFlow, PyTorch and JAX.
TRAINING = [
    ("multi-layer perceptron 784-128-10, batch 64, 2 CPU cores", "training/mlp_784_128_10_batch_64"),
    ("784-1024-1024-10, batch 128, 2 CPU cores", "training/mlp_784_1024_1024_10_batch_128"),
    ("LeNet, batch 64, 2 CPU cores", "training/lenet_batch_64"),
    ("ResNet-20, batch 64, 2 CPU cores", "training/resnet20_batch_64"),
    ("transformer of 4 layers, width 128, batch 12 of 64 characters, 2 CPU cores", "models/transformer_4x128"),
]
PEERS = ("tensorflow", "pytorch", "jax")
PROCESSES = [
    ("2 parameter servers and 2 workers, 784-128-10, synchronous", "parameter_servers/2_ps_2_workers_784_128_10"),
    ("the same, asynchronous", "parameter_servers/2_ps_2_workers_784_128_10_async"),
    ("the same, 784-1024-1024-10, synchronous", "parameter_servers/2_ps_2_workers_784_1024_1024_10"),
    ("two processes with all-reduce, 784-128-10", "data_parallel/mlp_784_128_10_batch_64"),
    ("the same, 784-1024-1024-10", "data_parallel/mlp_784_1024_1024_10_batch_128"),
    ("the same, ResNet-20", "data_parallel/resnet20_batch_64"),
]
GPU = [
    ("784-128-10, batch 64, H100", "gpu/mlp_784_128_10_batch_64"),
    ("784-1024-1024-10, batch 128, H100", "gpu/mlp_784_1024_1024_10_batch_128"),
    ("ResNet-20, batch 512, H100", "gpu/resnet20_batch_512"),
    ("transformer of 4 layers, width 128, batch 256 of 64 characters, H100", "gpu/transformer_4x128_batch_256"),
]


def main():
    ratios = {}
    for path in sys.argv[1:]:
        with open(path) as file:
            ratios |= {row["name"]: f"{row['ratio']:.1f}" for row in json.load(file) if "ratio" in row}

    def line(what, *names):
        cells = [ratios.get(name, "") for name in names]
        if any(cells):
            print(f"| {what} | {' | '.join(cells)} |")

    print("| training steps a second, ours beside theirs | TensorFlow 2 | PyTorch 2 | JAX |")
    print("|---|---|---|---|")
    for what, name in TRAINING:
        line(what, *(f"{name}_vs_{peer}" for peer in PEERS))
    for what, name in PROCESSES:
        line(what, f"{name}_vs_tensorflow", f"{name}_vs_ddp", "")
    for what, name in GPU:
        line(what, "", name, "")


if __name__ == "__main__":
    main()
