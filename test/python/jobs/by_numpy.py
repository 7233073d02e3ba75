"""NumPy and scikit-learn judge the map/reduce programs that learn: by_numpy.py FOLDER_OF_PROGRAMS TEXT."""

import gzip
import os

import numpy
import sklearn.cluster
import sklearn.linear_model

import judging

draw = numpy.random.default_rng(1)


def close_numbers(expected, tolerance, what):
    """The verdict that compares all numbers of the rows."""
    def verdict(folder):
        ours = judging.rows(folder)
        judging.check_same([len(row) for row in ours], [len(row) for row in expected], f"{what}, columns of the rows")
        difference = numpy.abs(numpy.array(ours, dtype=float) - expected).max()
        judging.expect(difference < tolerance, f"{what}: {difference} apart")
    return verdict


def k_means():
    """Lloyd's rounds by scikit-learn's own step, without its stop at convergence and its empty clusters."""
    middles = draw.normal(size=(16, 20)) * 5
    points = middles[draw.integers(16, size=3000)] + draw.normal(size=(3000, 20)) * 4
    points.tofile("points.bin")
    points[:16].tofile("start.bin")
    for rounds in 1, 8:
        fitted = sklearn.cluster.KMeans(16, init=points[:16], n_init=1, max_iter=rounds, tol=0, algorithm="lloyd")
        centres = fitted.fit(points).cluster_centers_
        judging.judge(close_numbers(centres, 1e-9, "the centres"), "k_means", "--input", "points.bin", "--start",
                      "start.bin", "--rounds", rounds, folder=f"k_means.{rounds}", in_order=True)


def logistic_regression():
    """Each step by NumPy, and the end by scikit-learn, which finds it in another way."""
    examples = draw.normal(size=(3000, 20)) + draw.normal(size=20) / 5
    labels = (examples @ draw.normal(size=20) / 2 + draw.logistic(size=3000) > 0.5).astype(float)
    numpy.column_stack([examples, labels]).tofile("examples.bin")
    flags = ["--input", "examples.bin", "--rate"]

    with_one, weights = numpy.column_stack([examples, numpy.ones(3000)]), numpy.zeros(21)
    for _ in range(30):
        errors = 1 / (1 + numpy.exp(-with_one @ weights)) - labels
        weights -= 0.5 * with_one.T @ errors / 3000
    judging.judge(close_numbers([weights], 1e-9, "the weights after 30 steps"), "logistic_regression", *flags, 0.5,
                  "--rounds", 30, folder="logistic_regression")

    fitted = sklearn.linear_model.LogisticRegression(C=numpy.inf, tol=1e-12, max_iter=1000, solver="newton-cholesky")
    fitted.fit(examples, labels)
    best = numpy.append(fitted.coef_[0], fitted.intercept_)
    judging.judge(close_numbers([best], 1e-7, "the weights that fit best"), "logistic_regression", *flags, 2,
                  "--rounds", 300, folder="logistic_regression.converged")


def images_of_digits(count):
    """The pixels of some of MNIST's test images, and which of them show a digit above 4."""
    folder = f"{os.path.dirname(os.path.dirname(judging.text))}/mnist"
    read = lambda name: gzip.open(f"{folder}/t10k-{name}-ubyte.gz").read()
    idx = lambda name, header: numpy.frombuffer(read(name), numpy.uint8, offset=header)
    return idx("images-idx3", 16).reshape(-1, 784)[:count], idx("labels-idx1", 8)[:count] > 4


def sparse_regression():
    """The features are the pixels that are not black."""
    count, most = 2000, 256
    images, labels = images_of_digits(count)
    features = [numpy.flatnonzero(image)[:most] + 1 for image in images]
    open("sparse.txt", "w").writelines(f"{int(label)} {' '.join(map(str, f))}\n" for label, f in zip(labels, features))
    ids = numpy.zeros((count, most), dtype=int)
    for row, f in zip(ids, features):
        row[:len(f)] = f
    weights = numpy.zeros(785)
    for batch in [numpy.arange(i, min(i + 64, count)) for i in range(0, count, 64)] * 3:
        errors = 1 / (1 + numpy.exp(-weights[ids[batch]].sum(axis=1))) - labels[batch]
        numpy.add.at(weights, ids[batch].ravel(), -0.02 * numpy.repeat(errors / len(batch), most))
        weights[0] = 0  # no feature
    right = ((weights[ids].sum(axis=1) > 0) == labels).mean()
    assert right > 0.75, f"the weights tell {right:.0%} of the digits"
    judging.judge(close_numbers(weights[:, None], 1e-4, "the weights"), "sparse_regression", "--input", "sparse.txt",
                  "--rate", 0.02, "--epochs", 3, folder="sparse_regression", in_order=True)


judging.in_own_folder(k_means, logistic_regression, sparse_regression)
