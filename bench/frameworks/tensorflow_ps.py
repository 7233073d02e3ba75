"""Steps per second of training by TensorFlow's parameter servers on the CPU: a baseline of bench/cluster. Written
for TensorFlow 2.21.

Usage: tensorflow_ps.py MODEL SECONDS sync|async
2 parameter servers and 2 workers, processes of this machine, train by stochastic gradient descent. Synchronous steps
are those of SyncReplicasOptimizer, which each worker runs in a session of its own; TensorFlow 2 has no newer ones.
Asynchronous steps are made in such sessions, too, and by ParameterServerStrategy, whose coordinator is this process: a
figure of each. A synchronous step takes a batch of each worker, an asynchronous one a batch of one of them.
"""

import multiprocessing
import os
import socket
import sys
import threading
import time

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # no greetings

import numpy
import tensorflow as tf

tf1 = tf.compat.v1
tf1.logging.set_verbosity(tf1.logging.ERROR)
TASKS = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
LEARNING_RATE = 0.01
# Name: outputs of the layers, examples of a batch.
MODELS = {"mlp-128": ([128, 10], 64), "mlp-1024": ([1024, 1024, 10], 128)}


def make_variables(name, make):
    sizes = [784, *MODELS[name][0]]
    return [[make(tf.random.normal(layer, stddev=(2 / layer[0]) ** 0.5)), make(tf.zeros(layer[1]))]
            for layer in zip(sizes, sizes[1:])]


def loss_of(name, variables):
    """Of a batch that is a constant of the graph: nothing is fed."""
    generator = numpy.random.default_rng(1)
    x = tf.constant(generator.random((MODELS[name][1], 784), numpy.float32))
    labels = tf.constant(generator.integers(10, size=MODELS[name][1]))
    for weights, biases in variables[:-1]:
        x = tf.nn.relu(x @ weights + biases)
    logits = x @ variables[-1][0] + variables[-1][1]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def train_in_session(server, cluster, index, name, seconds, synchronous, figures, initialised):
    """Trains until the process is killed. The first worker puts the steps per second of both into `figures`."""
    worker = f"/job:worker/task:{index}"
    with tf.Graph().as_default(), tf1.device(tf1.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        step = tf1.train.get_or_create_global_step()
        optimizer = tf1.train.GradientDescentOptimizer(LEARNING_RATE)
        if synchronous:
            optimizer = tf1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=2, total_num_replicas=2)
        train = optimizer.minimize(loss_of(name, make_variables(name, tf1.Variable)), global_step=step)
        session = tf1.Session(server.target)
        if index == 0:
            session.run(tf1.global_variables_initializer())
        else:
            initialised.wait()
        session.run(tf1.local_variables_initializer())
        if synchronous:  # what its hook does in a MonitoredTrainingSession, which polls every 30 s
            session.run(optimizer.chief_init_op if index == 0 else optimizer.local_step_init_op)
            if index == 0:
                session.run(optimizer.get_init_tokens_op())
                optimizer.get_chief_queue_runner().create_threads(session, daemon=True, start=True)
        initialised.set()
        run = session.make_callable(train)
    for _ in range(20):
        run()
    first, start = session.run(step), time.perf_counter()
    while index > 0 or time.perf_counter() < start + seconds:
        run()
    figures.put((session.run(step) - first) / (time.perf_counter() - start))
    while True:
        time.sleep(1)


def run_task(task, addresses, figures, initialised, name, seconds, synchronous):
    """A server, or a worker with a session of its own; without `figures` a coordinator has the sessions."""
    cluster = tf.train.ClusterSpec(addresses)
    threads = tf1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    server = tf.distribute.Server(cluster, *task, config=threads)
    if figures is None or task[0] == "ps":
        server.join()
    train_in_session(server, cluster, task[1], name, seconds, synchronous, figures, initialised)


def train_by_coordinator(addresses, name, seconds):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(addresses), rpc_layer="grpc")
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        variables = make_variables(name, tf.Variable)
    trained = [variable for layer in variables for variable in layer]

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = loss_of(name, variables)
        for variable, gradient in zip(trained, tape.gradient(loss, trained)):
            variable.assign_sub(LEARNING_RATE * gradient)

    def run(steps):
        start = time.perf_counter()
        for _ in range(steps):
            coordinator.schedule(train)
        coordinator.join()
        return steps / (time.perf_counter() - start)

    run(20)
    return run(max(1, int(seconds * run(20))))


def free_addresses(count):
    listeners = [socket.create_server(("localhost", 0)) for _ in range(count)]  # at once, so that no port comes twice
    addresses = [f"localhost:{listener.getsockname()[1]}" for listener in listeners]
    for listener in listeners:
        listener.close()
    return addresses


def figure_of(coordinator, name, seconds, synchronous):
    """The figure of `coordinator`, or, if it is None, of the first worker. The tasks run meanwhile."""
    free = free_addresses(4)
    addresses = {"ps": free[:2], "worker": free[2:]}
    context = multiprocessing.get_context("spawn")
    figures = None if coordinator else context.Queue()
    shared = (addresses, figures, context.Event(), name, seconds, synchronous)
    tasks = [context.Process(target=run_task, args=(task, *shared), daemon=True) for task in TASKS]
    for task in tasks:
        task.start()
    figure = coordinator(addresses, name, seconds) if coordinator else figures.get(timeout=120)
    for task in tasks:
        task.kill()
    return figure


def give_up():
    for task in multiprocessing.active_children():
        task.kill()
    os._exit(1)


def main():
    name, seconds, synchronous = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "sync"
    print(figure_of(None, name, seconds, synchronous), flush=True)
    if not synchronous:
        threading.Timer(45, give_up).start()  # a coordinator that cannot connect waits; the first figure counts then
        print(figure_of(train_by_coordinator, name, seconds, False), flush=True)
    os._exit(0)  # the coordinator's threads would look for its workers


if __name__ == "__main__":
    main()
