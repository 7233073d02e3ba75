"""What the programs of this folder that train models have in common: the digits, the weights from which models begin, and rows of
what was measured.
"""
import gzip

import numpy as np


def digits(data, name):
    """An array of apps/data/digits, of bytes."""
    raw = gzip.open(f"{data}/digits/{name}.gz").read()
    rank = raw[3]
    shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(rank)]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)


def begin(model):
    """Element i of weight w of the model is sin(i + w + 1) / sqrt(number of inputs); biases begin as 0."""
    values = []
    for w, weight in enumerate(model.weights):
        shape = tuple(weight.shape)
        inputs = int(np.prod(shape[:-1]))
        count = int(np.prod(shape))
        value = np.sin(np.arange(count) + w + 1.0) / np.sqrt(inputs) if len(shape) > 1 else np.zeros(count)
        values.append(value.reshape(shape).astype("float32"))
    model.set_weights(values)


def show(name, history, validated=None):
    """`validated`: the epochs that have validated; all if it is left out."""
    for metric, values in history.items():
        epochs = validated if validated and metric.startswith("val_") else range(1, len(values) + 1)
        for epoch, value in zip(epochs, values, strict=True):
            print(f"{name},{epoch},{metric},{value:.9g}")
