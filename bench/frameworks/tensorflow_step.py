"""Training steps per second of a model in TensorFlow on the CPU: a baseline of frameworks.h.

Usage: tensorflow_step.py MODEL SECONDS THREADS
Prints the steps per second of a plain tf.function and of one that XLA compiles (jit_compile). A step is what ours
is: forward, mean softmax cross-entropy, backward, and the update by stochastic gradient descent. Models are written
with tf.nn and not with Keras, whose batch normalisation is not the fused one.
"""

import math
import os
import sys

# TensorFlow greets on the descriptor of standard error; Python's own errors still get there.
sys.stderr = os.fdopen(os.dup(2), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

import timing

LEARNING_RATE = 0.01
# Name: shape of a batch.
BATCHES = {"mlp-128": (64, 784), "mlp-1024": (128, 784), "lenet": (64, 28, 28, 1), "resnet20": (64, 32, 32, 3)}


class Model:
    """A model and its variables: the first call makes them, each later one takes the same in the same order."""

    def __init__(self, forward):
        self.forward, self.variables = forward, []

    def __call__(self, x):
        self.next = 0
        return self.forward(self, x)

    def trained(self):
        return [variable for variable in self.variables if variable.trainable]

    def variable(self, initial_value, trainable=True):
        if self.next == len(self.variables):
            self.variables.append(tf.Variable(initial_value(), trainable=trainable))
        self.next += 1
        return self.variables[self.next - 1]

    def weights(self, *shape):
        return self.variable(lambda: tf.random.normal(shape, stddev=math.sqrt(2 / math.prod(shape[:-1]))))

    def dense(self, x, outputs):
        product = x @ self.weights(x.shape[1], outputs)
        return tf.nn.bias_add(product, self.variable(lambda: tf.zeros(outputs)))

    def conv(self, x, filters, window, stride=1, bias=False):
        y = tf.nn.conv2d(x, self.weights(window, window, x.shape[3], filters), stride, "SAME")
        return tf.nn.bias_add(y, self.variable(lambda: tf.zeros(filters))) if bias else y

    def batch_norm(self, x):
        ones, zeros = lambda: tf.ones(x.shape[3]), lambda: tf.zeros(x.shape[3])
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(
            x, self.variable(ones), self.variable(zeros), epsilon=1e-5)
        for of_batch, initial_value in ((mean, zeros), (variance, ones)):
            average = self.variable(initial_value, trainable=False)
            average.assign_sub(0.1 * (average - of_batch))
        return y


def mlp(*hidden):
    def forward(model, x):
        for outputs in hidden:
            x = tf.nn.relu(model.dense(x, outputs))
        return model.dense(x, 10)
    return Model(forward)


def lenet():
    def forward(model, x):
        for filters in (32, 64):
            x = tf.nn.max_pool2d(tf.nn.relu(model.conv(x, filters, 5, bias=True)), 2, 2, "VALID")
        x = tf.reshape(x, (x.shape[0], 64 * 7 * 7))
        return model.dense(tf.nn.relu(model.dense(x, 512)), 10)
    return Model(forward)


def resnet20():
    """He et al. 2015 for CIFAR-10, with zero padding as the shortcut (option A)."""

    def block(model, x, filters, stride):
        y = tf.nn.relu(model.batch_norm(model.conv(x, filters, 3, stride)))
        y = model.batch_norm(model.conv(y, filters, 3))
        added = filters - x.shape[3]
        if added:
            x = tf.pad(x[:, ::stride, ::stride], ((0, 0), (0, 0), (0, 0), (added // 2, added - added // 2)))
        return tf.nn.relu(x + y)

    def forward(model, x):
        x = tf.nn.relu(model.batch_norm(model.conv(x, 16, 3)))
        for filters in (16, 32, 64):
            for number in range(3):
                x = block(model, x, filters, 2 if filters > 16 and number == 0 else 1)
        return model.dense(tf.reduce_mean(x, (1, 2)), 10)
    return Model(forward)


MODELS = {"mlp-128": lambda: mlp(128), "mlp-1024": lambda: mlp(1024, 1024), "lenet": lenet, "resnet20": resnet20}


def steps_per_second(name, seconds, compiled):
    tf.random.set_seed(1)
    model, shape = MODELS[name](), BATCHES[name]
    batches = [(tf.random.uniform(shape), tf.random.uniform(shape[:1], maxval=10, dtype=tf.int32))
               for _ in range(16)]
    model(batches[0][0])  # makes the variables

    @tf.function(jit_compile=compiled)
    def train(x, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(x)))
        for variable, gradient in zip(model.trained(), tape.gradient(loss, model.trained())):
            variable.assign_sub(LEARNING_RATE * gradient)
        return loss

    def run(steps):
        for step in range(steps):
            loss = train(*batches[step % len(batches)])
        return loss.numpy()

    return timing.steps_per_second(run, seconds)


def main():
    name, seconds, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    for compiled in (False, True):
        print(steps_per_second(name, seconds, compiled), flush=True)


if __name__ == "__main__":
    main()
