"""Training steps per second of a model in PyTorch on the CPU: a baseline of bench/frameworks.h.

Usage: pytorch_step.py MODEL SECONDS THREADS
Prints the steps per second. A step is what ours is: forward, mean softmax cross-entropy, backward, and the update by
stochastic gradient descent.
"""

import sys
import time
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
from torch import nn
from torch.nn import functional


def mlp(*sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(), nn.Linear(512, 10))


class Block(nn.Module):
    """Two convolutions and the identity: He et al. 2015, with zero padding as the shortcut (option A)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride, self.added = stride, outputs - inputs

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.added:
            x = functional.pad(x[:, :, ::self.stride, ::self.stride],
                               (0, 0, 0, 0, self.added // 2, self.added - self.added // 2))
        return functional.relu(x + y)


def resnet20():
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    channels = 16
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        for block in range(3):
            layers.append(Block(channels, outputs, stride if block == 0 else 1))
            channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


# Name: model, shape of a batch.
MODELS = {
    "mlp-128": (lambda: mlp(784, 128, 10), (64, 784)),
    "mlp-1024": (lambda: mlp(784, 1024, 1024, 10), (128, 784)),
    "lenet": (lenet, (64, 1, 28, 28)),
    "resnet20": (resnet20, (64, 3, 32, 32)),
}


def steps_per_second(name, seconds):
    make, shape = MODELS[name]
    torch.manual_seed(1)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = [(torch.rand(shape), torch.randint(10, shape[:1])) for _ in range(16)]

    def run(steps):
        for step in range(steps):
            x, labels = batches[step % len(batches)]
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(model(x), labels).backward()
            optimizer.step()

    run(4)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() < start + seconds:
        run(8)
        steps += 8
    return steps / (time.perf_counter() - start)


def main():
    name, seconds, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    print(steps_per_second(name, seconds))


if __name__ == "__main__":
    main()
