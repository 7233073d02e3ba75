"""Trains the small convolutional net of `actorflow train cifar10` (actors/models/images/fast_net.h) on CIFAR-10.

Usage: pytorch_cifar10.py FOLDER [--epochs N] [--threads N] [--device cpu|cuda] [--bf16] [--compile] [--time]
       [--steps N] [--seed N]
FOLDER has CIFAR-10's binary version. Prints the accuracy on the test images, with their mirror images, and the images
trained per second. With --time it makes --steps steps only and does not look at the accuracy. --bf16 multiplies in
bfloat16 (autocast).
"""

import argparse
import os
import time
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
from torch import nn
from torch.nn import functional

CHANNELS, BATCH, RATE, MOMENTUM, DECAY, SMOOTHING, PADDING = (48, 192, 192), 512, 0.75, 0.85, 1.33e-3, 0.2, 2
COURSE = ((0.0, 0.2), (0.23, 1.0), (1.0, 0.07))  # shares of the training, and of the rate
RECORD, IMAGE = 1 + 3072, (3, 32, 32)


def load(folder, names):
    data = b"".join(open(os.path.join(folder, name), "rb").read() for name in names)
    records = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(-1, RECORD)
    images = records[:, 1:].reshape(-1, *IMAGE).float().div(255).contiguous(memory_format=torch.channels_last)
    return images, records[:, 0].long()


def whitening_filters(images, window=2, least_variance=5e-4):
    size = window * window * IMAGE[0]
    patches = functional.unfold(images[:5000] * 4 - 2, window).transpose(1, 2).reshape(-1, size).double()
    values, vectors = torch.linalg.eigh(patches.T @ patches / len(patches))
    filters = (vectors / (values + least_variance).sqrt()).T.reshape(size, IMAGE[0], window, window)
    return torch.cat([filters, -filters]).float()


class Normalised(nn.Module):
    """Batch normalisation without scales, whose offsets learn 64 times as fast as weights do."""

    def __init__(self, channels):
        super().__init__()
        self.offset = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.register_buffer("scale", torch.ones(channels))  # on a GPU PyTorch has no gradient of an offset without it

    def forward(self, x):
        offset = self.offset * 8
        return functional.batch_norm(x, self.mean, self.variance, self.scale, offset, self.training, 0.4, 1e-12)


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([Normalised(outputs), Normalised(outputs)])
        for conv in (self.first, self.second):
            nn.init.dirac_(conv.weight[:conv.in_channels].data)

    def forward(self, x):
        x = functional.gelu(self.norms[0](functional.max_pool2d(self.first(x), 2)))
        return functional.gelu(self.norms[1](self.second(x)))


class FastNet(nn.Module):
    def __init__(self, whitening):
        super().__init__()
        self.register_buffer("whitening", whitening.contiguous(memory_format=torch.channels_last))
        sizes = (len(whitening), *CHANNELS)
        self.blocks = nn.Sequential(*(Block(*pair) for pair in zip(sizes, sizes[1:])))
        self.head = nn.Linear(CHANNELS[-1], 10, bias=False)

    def forward(self, x):
        x = functional.gelu(functional.conv2d(x * 4 - 2, self.whitening))
        return self.head(self.blocks(x).amax((2, 3))) / 9


def factor(done):
    for (first, from_factor), (last, to_factor) in zip(COURSE, COURSE[1:]):
        if done <= last:
            return from_factor + (to_factor - from_factor) * (done - first) / (last - first)
    return COURSE[-1][1]


def batches(images, labels, epochs):
    """Shuffled; cut from images with reflected borders; mirrored in every other pass."""
    device = images.device
    padded = functional.pad(images, (PADDING,) * 4, mode="reflect").permute(0, 2, 3, 1).contiguous()
    mirrored_first = torch.rand(len(images), device=device) < 0.5
    lines, places = torch.arange(IMAGE[1], device=device), 2 * PADDING + 1
    for epoch in range(epochs):
        order = torch.randperm(len(images), device=device)
        for rows in order.split(BATCH):
            if len(rows) < BATCH:
                break
            corners = torch.randint(places, (BATCH, 2, 1, 1), device=device)
            x = padded[rows.view(-1, 1, 1), corners[:, 0] + lines.view(1, -1, 1), corners[:, 1] + lines]
            x = x.permute(0, 3, 1, 2)  # of memory by pixels
            mirrored = mirrored_first[rows] ^ (epoch % 2 == 1)
            yield torch.where(mirrored.view(-1, 1, 1, 1), x.flip(3), x), labels[rows]


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def train(model, trained, data, steps, bf16):
    filters = [p for name, p in model.named_parameters() if name.endswith("weight")]
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM, nesterov=True)
    made = 0
    for x, y in data:
        for group in optimizer.param_groups:
            group["lr"] = RATE * factor(made / steps)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(x.device.type, torch.bfloat16, enabled=bf16):
            logits = trained(x)
        loss = functional.cross_entropy(logits.float(), y, label_smoothing=SMOOTHING)
        (loss + sum(DECAY / 2 * (p * p).sum() for p in filters)).backward()
        optimizer.step()
        made += 1
        if made == steps:
            break
    return made


@torch.no_grad()
def accuracy(model, images, labels):
    model.eval()
    right = 0
    for x, y in zip(images.split(1000), labels.split(1000)):
        right += ((model(x) + model(x.flip(3))).argmax(1) == y).sum().item()
    return right / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=17)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    files = [f"data_batch_{i}.bin" for i in range(1, 6)]
    images, labels = (tensor.to(args.device) for tensor in load(args.folder, files))
    model = FastNet(whitening_filters(images)).to(args.device, memory_format=torch.channels_last)
    trained = torch.compile(model) if args.compile else model
    steps = args.steps if args.time else args.epochs * (len(images) // BATCH)
    if args.time:
        train(model, trained, batches(images, labels, 1), 3, args.bf16)  # compiles
    synchronize(args.device)
    start = time.perf_counter()
    made = train(model, trained, batches(images, labels, args.epochs), steps, args.bf16)
    synchronize(args.device)
    seconds = time.perf_counter() - start
    if not args.time:
        tests = (tensor.to(args.device) for tensor in load(args.folder, ["test_batch.bin"]))
        print(f"test accuracy {100 * accuracy(model, *tests):.2f} % in {seconds:.1f} s")
    print(f"{made * BATCH / seconds:.0f} images/s")


if __name__ == "__main__":
    main()
