#!/usr/bin/env python3
"""Writes votes.h: what scikit-learn's voting and stacking make of the same probabilities and folds.

Run in an environment with scikit-learn 1.9.1 and NumPy: votes.py > votes.h
"""
import numpy as np
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

ROWS, MEMBERS, CLASSES, FOLDS = 60, 3, 3, 4
random = np.random.default_rng(7)
y = np.arange(ROWS) * 7 % CLASSES
# What member m says of row r: it tends to the label, with noise.
logits = np.round(random.normal(size=(MEMBERS, ROWS, CLASSES)) + 1.2 * np.eye(CLASSES)[y], 3)
x = np.arange(ROWS)[:, None].astype(float)
numbers = np.round(np.sin(np.arange(ROWS)), 3)
predicted = np.round(0.8 * numbers + 0.3 * random.normal(size=(MEMBERS, ROWS)), 3)


class Member(ClassifierMixin, BaseEstimator):
    """Says of row r what `logits` has; it learns nothing."""

    def __init__(self, number):
        self.number = number

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        e = np.exp(logits[self.number][x[:, 0].astype(int)])
        return e / e.sum(axis=1, keepdims=True)

    def predict(self, x):
        return self.predict_proba(x).argmax(axis=1)


class MemberOfNumbers(RegressorMixin, BaseEstimator):
    """Says of row r what `predicted` has."""

    def __init__(self, number):
        self.number = number

    def fit(self, x, y):
        return self

    def predict(self, x):
        return predicted[self.number][x[:, 0].astype(int)]


def stratified_folds():
    """The rule of samples.h: the rows of a class are dealt out in turn."""
    seen, fold = {}, []
    for label in y:
        fold.append(seen.get(label, 0) % FOLDS)
        seen[label] = seen.get(label, 0) + 1
    return np.array(fold)


def members():
    return [(f"m{i}", Member(i)) for i in range(MEMBERS)]


def write(name, values, kind="double"):
    text = ", ".join(repr(v) for v in np.asarray(values).ravel().tolist())
    print(f"inline const std::vector<{kind}> {name}{{{text}}};")


weights = [2, 1, 1.5]
fold = stratified_folds()
cv = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(FOLDS)]
print("// Written by votes.py: what scikit-learn 1.9.1 says.\n#pragma once\n\n#include <cstdint>\n#include <vector>\n")
print("// clang-format off\nnamespace actorflow::test::scikit_learn {\n")
print(f"inline constexpr std::int64_t rows = {ROWS}, members = {MEMBERS}, classes = {CLASSES};")
print(f"inline constexpr int folds = {FOLDS};")
write("labels", y, "std::int64_t")
write("fold_of_row", fold, "int")
write("logits", logits)
write("weights", weights)
soft = VotingClassifier(members(), voting="soft", weights=weights).fit(x, y)
write("soft_probabilities", soft.predict_proba(x))
write("soft_classes", soft.predict(x), "std::int64_t")
hard = VotingClassifier(members(), voting="hard").fit(x, y)
write("hard_classes", hard.predict(x), "std::int64_t")
heavy = VotingClassifier(members(), voting="hard", weights=weights).fit(x, y)
write("weighted_hard_classes", heavy.predict(x), "std::int64_t")
for name, passthrough in (("stacked", False), ("passthrough", True)):
    final = LogisticRegression(C=1, tol=1e-10, max_iter=10000)
    stack = StackingClassifier(members(), final_estimator=final, cv=cv, passthrough=passthrough).fit(x, y)
    write(f"{name}_probabilities", stack.predict_proba(x))
write("numbers", numbers)
write("predicted_numbers", predicted)
consecutive = np.concatenate([np.full(len(test), i) for i, (_, test) in enumerate(KFold(7).split(x))])
write("consecutive_fold_of_row", consecutive, "int")
of_numbers = [(f"m{i}", MemberOfNumbers(i)) for i in range(MEMBERS)]
for name, passthrough in (("stacked", False), ("passthrough", True)):
    stack = StackingRegressor(of_numbers, final_estimator=Ridge(), cv=KFold(7), passthrough=passthrough)
    write(f"{name}_numbers", stack.fit(x, numbers).predict(x))
print("\n}  // namespace actorflow::test::scikit_learn")
