"""Gives Keras' EarlyStopping series of numbers and prints when it stops: early_stopping.csv, with which
test/models/keras.cpp compares early_stopping().

  /tmp/keras/bin/python test/models/keras/early_stopping.py > test/models/keras/early_stopping.csv

A row: patience, min_delta, the first epoch that counts (from 1), the baseline or nothing, the epochs that
ran, the epoch whose weights are restored, and the values. histories.py says how to install Keras.
"""
import os
import random

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402


class Epochs:
    """A model whose weights are the number of its epochs."""

    stop_training = False
    epoch = 0

    def get_weights(self):
        return self.epoch

    def set_weights(self, epoch):
        self.epoch = epoch


random.seed(1)
for _ in range(200):
    values = [random.randint(1, 40) / 4 for _ in range(12)]
    patience, delta, start = random.randint(0, 4), random.choice([0, 0.5]), random.choice([0, 0, 2])
    baseline = random.choice([None, None, 2, 4.25, 6.5])
    stopping = keras.callbacks.EarlyStopping(
        monitor="val_loss", mode="min", patience=patience, min_delta=delta, start_from_epoch=start,
        baseline=baseline, restore_best_weights=True)
    model = Epochs()
    stopping.set_model(model)
    stopping.on_train_begin()
    for ran, value in enumerate(values, 1):
        model.epoch = ran
        stopping.on_epoch_end(ran - 1, {"val_loss": value})
        if model.stop_training:
            break
    stopping.on_train_end()
    print(patience, delta, start + 1, "" if baseline is None else baseline, ran, model.epoch, *values, sep=",")
