"""Trains nanoGPT's small character-level transformer for CPUs on a text, as `actorflow train shakespeare` does.

Usage: pytorch_shakespeare.py TEXT [--steps N] [--threads N] [--compile] [--time] [--rate R]
Prints the validation loss over consecutive blocks, and the training steps per second. With --time it trains without
looking at the loss. nanoGPT's own rate is 1e-3.
"""

import argparse
import gzip
import math
import os
import time
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
from torch import nn
from torch.nn import functional

CONTEXT, LAYERS, HEADS, WIDTH, BATCH = 64, 4, 4, 128, 12


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2)
                   for part in self.qkv(self.ln1(x)).split(width, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(functional.gelu(self.wide(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.table, self.positions = nn.Embedding(characters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters, bias=False)
        self.head.weight = self.table.weight
        for name, weights in self.named_parameters():
            if weights.dim() == 2:
                last = name.endswith(("out.weight", "narrow.weight"))
                nn.init.normal_(weights, std=0.02 / math.sqrt(2 * LAYERS) if last else 0.02)

    def forward(self, ids):
        return self.head(self.ln(self.blocks(self.table(ids) + self.positions.weight)))


def loss_of(model, x, y):
    return functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


def rate(step, steps, first, warmup=100):
    last = first / 10
    if step < warmup:
        return first * (step + 1) / (warmup + 1)
    return last + (first - last) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2


def train(model, text, steps, schedule_steps, first_rate):
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0}],
                                  lr=first_rate, betas=(0.9, 0.99), fused=True)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, schedule_steps, first_rate)
        places = torch.randint(len(text) - CONTEXT, (BATCH,)).tolist()
        x = torch.stack([text[i:i + CONTEXT] for i in places])
        y = torch.stack([text[i + 1:i + 1 + CONTEXT] for i in places])
        optimizer.zero_grad(set_to_none=True)
        loss_of(model, x, y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


@torch.no_grad()
def validation_loss(model, text):
    blocks = (len(text) - 1) // CONTEXT
    x, y = (text[i:i + blocks * CONTEXT].view(blocks, CONTEXT) for i in (0, 1))
    losses = [loss_of(model, x[i:i + BATCH], y[i:i + BATCH]) * len(x[i:i + BATCH]) for i in range(0, blocks, BATCH)]
    return (sum(losses) / blocks).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--time", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1337)
    with (gzip.open if args.text.endswith(".gz") else open)(args.text, "rt", encoding="utf-8") as file:
        text = file.read()
    numbers = {c: i for i, c in enumerate(sorted(set(text)))}
    ids = torch.tensor([numbers[c] for c in text])
    divide = int(0.9 * len(ids))
    model = Gpt(len(numbers))
    trained = torch.compile(model) if args.compile else model
    if args.time:
        train(trained, ids[:divide], 5, args.steps, args.rate)  # compiles
    start, start_cpu = time.perf_counter(), time.process_time()
    train(trained, ids[:divide], args.steps, args.steps, args.rate)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    if not args.time:
        print(f"validation loss {validation_loss(model, ids[divide:]):.4f}")
    print(f"{args.steps / seconds:.2f} step/s, {1e3 * cpu / args.steps:.1f} ms of processors a step")


if __name__ == "__main__":
    main()
