"""Steps per second of data-parallel training by PyTorch's DistributedDataParallel over gloo: a baseline of
bench/cluster. Written for PyTorch 2.15.

Usage: pytorch_ddp.py MODEL SECONDS
Two processes of one thread on this machine train a model of pytorch_step.py, each with batches of its own. Rank 0
prints the steps per second; a step takes a batch of each rank. Ends with an error if the ranks' weights differ.
"""

import multiprocessing
import sys
import time
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel

from pytorch_all_reduce import free_port
from pytorch_step import MODELS, image_batches, training

RANKS = 2


def expect_equal_weights(model):
    own = torch.cat([weights.detach().flatten() for weights in model.parameters()])
    of_ranks = [torch.empty_like(own) for _ in range(RANKS)]
    distributed.all_gather(of_ranks, own)
    assert all(torch.equal(own, other) for other in of_ranks), "the ranks have different weights"


def run(rank, name, seconds, port):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS)
    make, shape = MODELS[name]
    # No copy of the gradients, and no averages of batch normalisation sent in each step: ours does neither.
    model = DistributedDataParallel(make(), gradient_as_bucket_view=True, broadcast_buffers=False)
    torch.manual_seed(rank)
    run_steps = training(model, image_batches(shape))

    def train(steps):
        begin = time.perf_counter()
        run_steps(steps)
        return steps / (time.perf_counter() - begin)

    train(4)
    steps = torch.tensor(max(1, int(seconds * train(4))))
    distributed.broadcast(steps, 0)  # the same for all ranks
    figure = train(int(steps))
    expect_equal_weights(model)
    if rank == 0:
        print(figure)
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    name, seconds, port = sys.argv[1], float(sys.argv[2]), free_port()
    ranks = [multiprocessing.Process(target=run, args=(rank, name, seconds, port)) for rank in range(RANKS)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    sys.exit(any(rank.exitcode for rank in ranks))
