"""Training steps per second of a model in PyTorch on the CPU: a baseline of frameworks.h.

Usage: pytorch_step.py MODEL SECONDS THREADS
Prints the steps per second. A step is what ours is: forward, mean softmax cross-entropy, backward, and the update by
stochastic gradient descent.
"""

import sys
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
from torch import nn
from torch.nn import functional

import timing


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


class TransformerBlock(nn.Module):
    """Attention that sees no later position, then two layers; each normalises its input (nanoGPT)."""

    def __init__(self, width, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.ln1(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self, characters=65, width=128, heads=4, layers=4, positions=64):
        super().__init__()
        self.table, self.positions = nn.Embedding(characters, width), nn.Embedding(positions, width)
        self.blocks = nn.Sequential(*(TransformerBlock(width, heads) for _ in range(layers)))
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, characters)

    def forward(self, ids):
        x = self.table(ids) + self.positions.weight
        return self.head(self.ln(self.blocks(x))).flatten(0, 1)


class RowLstm(nn.Module):
    """Reads the rows of images as steps."""

    def __init__(self, features=28, units=128):
        super().__init__()
        self.lstm, self.head = nn.LSTM(features, units, batch_first=True), nn.Linear(units, 10)

    def forward(self, images):
        return self.head(self.lstm(images)[0][:, -1])


# Name: model, shape of a batch.
MODELS = {
    "gpt": (Gpt, (12, 64)),
    "mlp-128": (lambda: mlp(784, 128, 10), (64, 784)),
    "mlp-1024": (lambda: mlp(784, 1024, 1024, 10), (128, 784)),
    "lenet": (lenet, (64, 1, 28, 28)),
    "lstm-128": (RowLstm, (64, 28, 28)),
    "resnet20": (resnet20, (64, 3, 32, 32)),
}


def image_batches(shape):
    return [(torch.rand(shape), torch.randint(10, shape[:1])) for _ in range(16)]


def training(model, batches):
    """A function that makes so many steps, each with the next batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def run(steps):
        for step in range(steps):
            x, labels = batches[step % len(batches)]
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(model(x), labels).backward()
            optimizer.step()

    return run


def steps_per_second(name, seconds, compiled=False):
    make, shape = MODELS[name]
    torch.manual_seed(1)
    model = make()
    if name == "gpt":
        batches = [(torch.randint(65, shape), torch.randint(65, (shape[0] * shape[1],))) for _ in range(16)]
        model = torch.compile(model) if compiled else model
    else:
        batches = image_batches(shape)
    return timing.steps_per_second(training(model, batches), seconds)


def main():
    name, seconds, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    best = steps_per_second(name, seconds)
    if name == "gpt" and seconds >= 1:
        best = max(best, steps_per_second(name, seconds, compiled=True))
    print(best)


if __name__ == "__main__":
    main()
