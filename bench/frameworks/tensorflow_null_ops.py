"""Million null ops per second of TensorFlow's executor: a baseline of bench/runtime/executor.cpp. Written for
TensorFlow 2.21.

Usage: tensorflow_null_ops.py NODES SECONDS THREADS STEPS_IN_FLIGHT
The graph is that of executor.cpp: nodes without inputs, 16 wide, each after one to three of the 32 before it. Nothing
optimises it, and one call runs all of it.
"""

import os
import random
import sys
import threading
import time

# TensorFlow greets on the descriptor of standard error; Python's own errors still get there.
sys.stderr = os.fdopen(os.dup(2), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow.compat.v1 as tf

WIDTH = 16


def make_graph(nodes):
    generator = random.Random(7)
    made = [tf.no_op()]
    while len(made) < nodes:
        before = {generator.choice(made[-2 * WIDTH:]) for _ in range(generator.randint(1, 3))}
        with tf.control_dependencies(before):
            made.append(tf.no_op())
    return tf.group(*made)


def config(threads):
    config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def main():
    nodes, seconds, threads, in_flight = int(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:5])
    with tf.Graph().as_default():
        last = make_graph(nodes)
        step = tf.Session(config=config(threads)).make_callable(last)
    step()
    steps = [0] * in_flight
    start = time.perf_counter()

    def run(client):
        while time.perf_counter() < start + seconds:
            step()
            steps[client] += 1

    clients = [threading.Thread(target=run, args=(client,)) for client in range(in_flight)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    print(nodes * sum(steps) / (time.perf_counter() - start) / 1e6)


if __name__ == "__main__":
    main()
