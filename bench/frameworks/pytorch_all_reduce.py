"""Milliseconds of an all-reduce by gloo, as PyTorch has it: a baseline of bench/cluster/collectives.cpp.

Usage: pytorch_all_reduce.py RANKS BYTES ROUNDS
Each rank is a process with one thread, on this machine. Prints the mean time of a round at rank 0.
"""

import multiprocessing
import socket
import sys
import time
import warnings

warnings.filterwarnings("ignore")  # PyTorch misses NumPy, which is not used here

import torch
import torch.distributed as distributed


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(rank, ranks, size, rounds, port):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    values = torch.zeros(max(size // 4, 1))
    for _ in range(5):
        distributed.all_reduce(values)
    distributed.barrier()
    begin = time.perf_counter()
    for _ in range(rounds):
        distributed.all_reduce(values)
    if rank == 0:
        print((time.perf_counter() - begin) / rounds * 1e3)
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    ranks, size, rounds = map(int, sys.argv[1:4])
    port = free_port()
    workers = [multiprocessing.Process(target=run, args=(rank, ranks, size, rounds, port)) for rank in range(ranks)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(any(worker.exitcode for worker in workers))
