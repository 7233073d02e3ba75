#!/usr/bin/env python3
"""Writes functions.h: what Keras' losses, metrics, regularisers and initialisers make of the same numbers.

  python3 -m venv /tmp/keras && /tmp/keras/bin/pip install keras jax
  /tmp/keras/bin/python test/models/keras/functions.py > test/models/keras/functions.h

Written with Keras 3.15.1 on NumPy, its backend here unless KERAS_BACKEND names another one; it needs jax. Losses, metrics
and penalties are of what functions.cpp makes of the same formulas: logits, labels, numbers, probabilities and weights.
"""
import os

os.environ.setdefault("KERAS_BACKEND", "numpy")
import keras  # noqa: E402
import numpy as np  # noqa: E402

ROWS, CLASSES = 24, 6
places = np.arange(ROWS * CLASSES, dtype=np.float64).reshape(ROWS, CLASSES)
logits = (3 * np.sin(1.7 * places)).astype("float32")
classes = np.arange(ROWS) * 7 % CLASSES
one_hot = np.eye(CLASSES, dtype="float32")[classes]
numbers = (2 * np.cos(0.9 * places)).astype("float32")
expected = np.sin(0.4 * places).astype("float32")
signs = np.where(places % 5 < 2, 1, -1).astype("float32")
bits = (signs + 1) / 2
# Leans to the label, and is often wrong.
probabilities = (0.5 + 0.35 * np.sin(1.3 * places) + 0.14 * signs).astype("float32")
counts = (places % 4).astype("float32")
shares = probabilities[:, ::-1] / 2  # rows that do not sum up to 1
sure = np.eye(CLASSES, dtype="float32")[np.arange(ROWS) * 5 % CLASSES]


def show(name, values):
    print(f"inline const std::vector<double> {name}{{{', '.join(f'{float(v):.9g}' for v in np.ravel(values))}}};")


def show_loss(name, loss, labels, prediction):
    """Of each row, the mean over its numbers where the loss is of numbers."""
    show(name, keras.ops.convert_to_numpy(loss(labels, prediction)))


def show_metric(name, metric, *updates):
    for labels, prediction in updates:
        metric.update_state(labels, prediction)
    show(name, [metric.result()])


def batches(labels, prediction, size=10):
    """Batches of 10, 10 and 4 rows."""
    return [(labels[i:i + size], prediction[i:i + size]) for i in range(0, ROWS, size)]


losses, metrics = keras.losses, keras.metrics
print(f"""// Written by functions.py: what Keras {keras.version()} says.
#pragma once

#include <vector>

// clang-format off
namespace actorflow::test::keras_says {{

// Losses: of each row.""")
for smoothing in (1, 3):
    show_loss(f"smoothed_by_{smoothing}_tenths", losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=smoothing / 10, reduction=None), one_hot, logits)
show_loss("sparse_cross_entropy", losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None), classes, logits)
show_loss("soft_cross_entropy", losses.CategoricalCrossentropy(from_logits=True, reduction=None), probabilities, logits)
show_loss("sigmoid_cross_entropy", losses.BinaryCrossentropy(from_logits=True, reduction=None), bits, logits)
show_loss("squared_error", losses.MeanSquaredError(reduction=None), expected, numbers)
show_loss("absolute_error", losses.MeanAbsoluteError(reduction=None), expected, numbers)
show_loss("huber_of_1", losses.Huber(reduction=None), expected, numbers)
show_loss("huber_of_a_half", losses.Huber(delta=0.5, reduction=None), expected, numbers)
show_loss("hinge_of_signs", losses.Hinge(reduction=None), signs, numbers)
show_loss("hinge_of_bits", losses.Hinge(reduction=None), bits, numbers)
show_loss("poisson_of_counts", losses.Poisson(reduction=None), counts, probabilities)

show_loss("percentage_error", losses.MeanAbsolutePercentageError(reduction=None), expected + np.float32(1.5), numbers)
show_loss("logarithmic_error", losses.MeanSquaredLogarithmicError(reduction=None), counts, numbers)
show_loss("log_cosh", losses.LogCosh(reduction=None), expected, numbers)
show_loss("squared_hinge_of_bits", losses.SquaredHinge(reduction=None), bits, numbers)
show_loss("categorical_hinge", losses.CategoricalHinge(reduction=None), one_hot, numbers)
show_loss("cosine_similarity", losses.CosineSimilarity(reduction=None), expected, numbers)
show_loss("kl_divergence", losses.KLDivergence(reduction=None), probabilities / 3, shares)
show_loss("sparse_of_probabilities", losses.SparseCategoricalCrossentropy(reduction=None), classes, shares)
show_loss("categorical_of_probabilities", losses.CategoricalCrossentropy(reduction=None), one_hot, shares)
show_loss("smoothed_of_probabilities", losses.CategoricalCrossentropy(label_smoothing=0.2, reduction=None), one_hot, shares)
show_loss("binary_of_probabilities", losses.BinaryCrossentropy(reduction=None), bits, probabilities)
show_loss("smoothed_binary", losses.BinaryCrossentropy(label_smoothing=0.2, reduction=None), bits, probabilities)
# Sure predictions, right and wrong: 0 and 1 are clipped.
show_loss("binary_of_sure", losses.BinaryCrossentropy(reduction=None), bits, np.round(probabilities))
show_loss("categorical_of_sure", losses.CategoricalCrossentropy(reduction=None), one_hot, sure)

print("\n// Metrics: of batches of 10, 10 and 4 rows.")
show_metric("accuracy", metrics.SparseCategoricalAccuracy(), *batches(classes, logits))
for k in (1, 2, 5):
    show_metric(f"top_{k}", metrics.SparseTopKCategoricalAccuracy(k), *batches(classes, logits))
judged = batches(bits[:, :1], probabilities[:, :1])
show_metric("top_2_of_ties", metrics.SparseTopKCategoricalAccuracy(2), *batches(classes, np.floor(logits)))
show_metric("binary_accuracy", metrics.BinaryAccuracy(), *judged)
show_metric("precision", metrics.Precision(), *judged)
show_metric("precision_above_0_7", metrics.Precision(thresholds=0.7), *judged)
show_metric("recall", metrics.Recall(), *judged)
show_metric("recall_above_0_7", metrics.Recall(thresholds=0.7), *judged)
show_metric("auc", metrics.AUC(), *judged)
show_metric("pr_auc", metrics.AUC(curve="PR"), *judged)
show_metric("f1_score", metrics.F1Score(average="micro", threshold=0.5), *judged)
show_metric("categorical_accuracy", metrics.CategoricalAccuracy(), *batches(one_hot, logits))
show_metric("root_mean_squared_error", metrics.RootMeanSquaredError(), *batches(expected, numbers))
show_metric("r2_score", metrics.R2Score(), *batches(expected, numbers))
# Ties within a threshold's bin, probabilities of exactly 0 and 1.
rounded = np.floor(probabilities[:, :1] * 4 + np.float32(0.5)) / 4
show_metric("auc_of_ties", metrics.AUC(), *batches(bits[:, :1], rounded))
show_metric("pr_auc_of_ties", metrics.AUC(curve="PR"), *batches(bits[:, :1], rounded))

print("\n// Penalties on weights.")
regularizers = keras.regularizers
show("l1", [regularizers.L1(0.03)(numbers)])
show("l2", [regularizers.L2(0.02)(numbers)])
show("l1_l2", [regularizers.L1L2(0.03, 0.02)(numbers)])

print("""
// Initialisers: mean, standard deviation, smallest and largest value, and the quantiles at 0.05, 0.25, 0.75 and 0.95
// of weights [800, 400] and of filters [3, 5, 80, 200].""")
initializers = keras.initializers
for name, initializer in {
    "glorot_uniform": initializers.GlorotUniform(seed=1),
    "glorot_normal": initializers.GlorotNormal(seed=2),
    "he_uniform": initializers.HeUniform(seed=3),
    "he_normal": initializers.HeNormal(seed=4),
    "lecun_normal": initializers.LecunNormal(seed=5),
}.items():
    for kind, shape in (("weights", (800, 400)), ("filters", (3, 5, 80, 200))):
        values = keras.ops.convert_to_numpy(initializer(shape)).astype("float64")
        show(f"{name}_{kind}", [values.mean(), values.std(), values.min(), values.max(),
                                *np.quantile(values, (0.05, 0.25, 0.75, 0.95))])
print("\n}  // namespace actorflow::test::keras_says")
