"""Training steps per second of a model in JAX on the CPU: a baseline of frameworks.h. Written for JAX 0.10.

Usage: jax_step.py MODEL SECONDS THREADS
Prints the steps per second of one compiled function, whose weights are updated in place. A step is what ours is:
forward, mean softmax cross-entropy, backward, and the update by stochastic gradient descent.
"""

import functools
import math
import os
import sys

# XLA takes a thread for each core that the process may use.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[3])])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
from jax import lax

import timing

LEARNING_RATE = 0.01
generator = numpy.random.default_rng(1)  # each op of jax.random would be compiled first


def weights(*shape):
    deviation = math.sqrt(2 / math.prod(shape[:-1]))
    return jnp.asarray(deviation * generator.standard_normal(shape, numpy.float32)), jnp.zeros(shape[-1])


def mlp(*sizes):
    model = [weights(*layer) for layer in zip(sizes, sizes[1:])]

    def forward(model, x):
        for w, b in model[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = model[-1]
        return x @ w + b

    return model, forward


def conv_relu_pool(x, w, b):
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(y + b), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def lenet():
    model = [weights(5, 5, 1, 32), weights(5, 5, 32, 64), weights(7 * 7 * 64, 512), weights(512, 10)]

    def forward(model, x):
        for w, b in model[:2]:
            x = conv_relu_pool(x, w, b)
        (w, b), (w_out, b_out) = model[2:]
        return jax.nn.relu(x.reshape(x.shape[0], -1) @ w + b) @ w_out + b_out

    return model, forward


# Name: model, shape of a batch.
MODELS = {
    "mlp-128": (lambda: mlp(784, 128, 10), (64, 784)),
    "mlp-1024": (lambda: mlp(784, 1024, 1024, 10), (128, 784)),
    "lenet": (lenet, (64, 28, 28, 1)),
}


def steps_per_second(name, seconds):
    make, shape = MODELS[name]
    model, forward = make()
    batches = [(jnp.asarray(generator.random(shape, numpy.float32)), jnp.asarray(generator.integers(10, size=shape[0])))
               for _ in range(16)]

    def loss(model, x, labels):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(forward(model, x)), labels[:, None], axis=1)
        return -jnp.mean(chosen)

    @functools.partial(jax.jit, donate_argnums=0)
    def train(model, x, labels):
        gradients = jax.grad(loss)(model, x, labels)
        return jax.tree.map(lambda value, gradient: value - LEARNING_RATE * gradient, model, gradients)

    def run(steps):
        nonlocal model
        for step in range(steps):
            model = train(model, *batches[step % len(batches)])
        jax.block_until_ready(model)

    return timing.steps_per_second(run, seconds)


if __name__ == "__main__":
    print(steps_per_second(sys.argv[1], float(sys.argv[2])))
