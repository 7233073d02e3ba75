"""Trains two small models with Keras and prints what each epoch measured: histories.csv, with which
test/models/keras.cpp compares fit().

  python3 -m venv /tmp/keras && /tmp/keras/bin/pip install keras torch
  KERAS_BACKEND=torch /tmp/keras/bin/python test/models/keras/histories.py apps/data > test/models/keras/histories.csv

The weights begin as the same numbers on both sides, without a random generator, and nothing is shuffled.
"""
import gzip
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
import numpy as np  # noqa: E402

data = sys.argv[1]


def idx(name):
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


def show(name, history):
    for metric, values in history.items():
        for epoch, value in enumerate(values):
            print(f"{name},{epoch + 1},{metric},{value:.9g}")


layers = keras.layers
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

table = np.loadtxt(f"{data}/iris.csv", delimiter=",", skiprows=1)
mlp = keras.Sequential([layers.Input((4,)), layers.Dense(10, activation="tanh"), layers.Dense(3)])
begin(mlp)
mlp.compile(loss=cross_entropy, metrics=["accuracy"], optimizer=keras.optimizers.Adam(0.01, epsilon=1e-7))
show("mlp", mlp.fit(table[:, :4].astype("float32"), table[:, 4].astype("int64"), epochs=3, batch_size=32,
                    shuffle=False, verbose=0).history)

images = idx("train-images-idx3-ubyte")[:320].astype("float32") / 16
labels = idx("train-labels-idx1-ubyte")[:320].astype("int64")
cnn = keras.Sequential([
    layers.Input((8, 8, 1)),
    layers.Conv2D(4, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
    layers.LayerNormalization(),
    layers.Flatten(),
    layers.Dense(10, kernel_regularizer=keras.regularizers.L2(0.01)),
])
begin(cnn)
cnn.compile(loss=cross_entropy, metrics=["accuracy"], optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
show("cnn", cnn.fit(images[:256, :, :, None], labels[:256], epochs=3, batch_size=60, shuffle=False, verbose=0,
                    validation_data=(images[256:, :, :, None], labels[256:])).history)
