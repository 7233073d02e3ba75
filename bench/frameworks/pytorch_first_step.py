"""One step of training by torchrun's tasks and gloo: a baseline of bench/cluster/launching.cpp.

Usage: torchrun --nproc-per-node RANKS pytorch_first_step.py
The same net and batch as `actorflow train digits --train_steps 1`: 64-128-10, 64 images of each rank.
"""

import os
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
distributed.init_process_group("gloo")
model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
optimizer = torch.optim.Adam(model.parameters())
loss = nn.functional.cross_entropy(model(torch.rand(64, 64)), torch.randint(0, 10, (64,)))
loss.backward()
optimizer.step()
if distributed.get_rank() == 0:
    print(f"step 1: loss {loss.item():.4f}", flush=True)
distributed.barrier()
os._exit(0)  # gloo's threads sometimes abort the process at its end, which is not what is measured
