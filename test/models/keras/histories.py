"""Trains small models with Keras and prints what each epoch measured: histories.csv, with which
test/models/keras.cpp compares fit().

  python3 -m venv /tmp/keras && /tmp/keras/bin/pip install keras torch
  KERAS_BACKEND=torch /tmp/keras/bin/python test/models/keras/histories.py apps/data > test/models/keras/histories.csv

With jax in place of torch the numbers differ by less than 1e-6. The weights begin as the same numbers on both sides, without a random generator, and nothing is shuffled.
"""
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from small_models import begin, digits, show  # noqa: E402

data = sys.argv[1]
layers = keras.layers
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

table = np.loadtxt(f"{data}/iris.csv", delimiter=",", skiprows=1)
flowers, kinds = table[:, :4].astype("float32"), table[:, 4].astype("int64")


def fit_flowers(name, validated=None, **options):
    model = keras.Sequential([layers.Input((4,)), layers.Dense(10, activation="tanh"), layers.Dense(3)])
    begin(model)
    model.compile(loss=cross_entropy, metrics=["accuracy"], optimizer=keras.optimizers.Adam(0.01, epsilon=1e-7))
    history = model.fit(flowers, kinds, batch_size=32, shuffle=False, verbose=0, **options).history
    show(name, history, validated)


fit_flowers("mlp", epochs=3)
fit_flowers("class_weight", epochs=3, class_weight={0: 1, 1: 2.5, 2: 0.5}, validation_data=(flowers, kinds))
fit_flowers("sample_weight", epochs=3, sample_weight=0.5 + np.arange(len(kinds)) % 4 * 0.5)
fit_flowers("validation_freq", epochs=4, validated=[2, 4], validation_freq=2, validation_steps=3,
            validation_batch_size=20, validation_data=(flowers, kinds))
fit_flowers("validation_epochs", epochs=4, validated=[1, 4], validation_freq=[1, 4], validation_split=0.2)

# Two layers are frozen: the normalisation uses its averages, which stay.
frozen = keras.Sequential([layers.Input((4,)), layers.Dense(10, activation="tanh"),
                           layers.BatchNormalization(), layers.Dense(3)])
begin(frozen)
frozen.layers[1].set_weights([np.full(10, value, "float32") for value in (1.5, 0.1, 0.2, 0.5)])
frozen.layers[0].trainable = frozen.layers[1].trainable = False
frozen.compile(loss=cross_entropy, metrics=["accuracy"], optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
show("frozen", frozen.fit(flowers, kinds, epochs=3, batch_size=32, shuffle=False, verbose=0).history)

images = digits(data, "train-images-idx3-ubyte")[:320].astype("float32") / 16
labels = digits(data, "train-labels-idx1-ubyte")[:320].astype("int64")
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
