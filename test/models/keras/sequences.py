"""Trains small models of sequences with Keras and prints what each epoch measured, and predictions: sequences.csv, with which
test/models/keras_sequences.cpp compares fit() and predict(). To be run as histories.py:

  KERAS_BACKEND=torch /tmp/keras/bin/python test/models/keras/sequences.py apps/data > test/models/keras/sequences.csv

The weights begin as in histories.py (small_models.py). Of the first 320 digits the rows are steps with eight features, pixels divided by 256, or the 16 pixels, divided by 16, of the third
and fourth row are ids.
"""
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from small_models import begin, digits, show  # noqa: E402

data = sys.argv[1]
layers = keras.layers

images = digits(data, "train-images-idx3-ubyte")[:320].astype("float32") / 256
labels = digits(data, "train-labels-idx1-ubyte")[:320].astype("int64")
# An image of digit d has 8 - d % 4 steps; the others are zeros.
short = images.copy()
for image, label in zip(short, labels):
    image[8 - label % 4:] = 0
ids = (images[:, 2:4] * 16).astype("int64").reshape(320, 16)
nothing = {}


def fit(name, network, x, y, optimizer=nothing):
    model = keras.Sequential([layers.Input(x.shape[1:], dtype=x.dtype), *network])
    begin(model)
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  optimizer=keras.optimizers.Adam(0.01, epsilon=1e-7, **optimizer))
    history = model.fit(x[:256], y[:256], epochs=3, batch_size=60, shuffle=False, verbose=0,
                        validation_data=(x[256:], y[256:])).history
    show(name, history)
    for place, value in enumerate(model.predict(x[256:259], verbose=0).reshape(-1)[:20]):
        print(f"{name},{place},prediction,{value:.9g}")


fit("lstm", [layers.LSTM(6), layers.Dense(10)], images, labels, {"global_clipnorm": 0.5})
fit("gru", [layers.GRU(6, return_sequences=True), layers.GRU(5, go_backwards=True), layers.Dense(10)], images, labels)
fit("simple_rnn", [layers.SimpleRNN(6, activation="relu", return_sequences=True, go_backwards=True),
                   layers.SimpleRNN(5, use_bias=False), layers.Dense(10)], images, labels)
fit("bidirectional", [layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
                      layers.Bidirectional(layers.GRU(3), merge_mode="sum"), layers.Dense(10)],
    images, labels)
fit("masked_steps", [layers.Embedding(17, 5, mask_zero=True), layers.LSTM(6, return_sequences=True),
                     layers.Dense(17)], ids, np.roll(ids, -1, axis=1))
fit("masked_mean", [layers.Embedding(17, 5, mask_zero=True), layers.Bidirectional(layers.GRU(3, return_sequences=True)),
                    layers.GlobalAveragePooling1D(), layers.Dense(10)], ids, labels)
fit("masking", [layers.Masking(), layers.LSTM(6, return_sequences=True), layers.Dense(5, activation="tanh"),
                layers.GRU(4, go_backwards=True), layers.Dense(10)], short, labels)
fit("conv1d", [layers.Conv1D(6, 3, padding="causal", dilation_rate=2, activation="relu"),
               layers.Conv1D(5, 2, dilation_rate=3, padding="same", activation="tanh"), layers.MaxPooling1D(2, strides=1),
               layers.Conv1D(4, 3, strides=2, padding="same", use_bias=False), layers.AveragePooling1D(2, padding="same"),
               layers.Flatten(), layers.Dense(10)], images, labels)
fit("shapes", [layers.TimeDistributed(layers.Conv1D(2, 3)), layers.TimeDistributed(layers.Flatten()),
               layers.Permute((2, 1)), layers.LSTM(4), layers.RepeatVector(3), layers.LSTM(3), layers.Dense(10)],
    images.reshape(320, 4, 2, 8).transpose(0, 1, 3, 2), labels)
