"""Runs exported models with ONNX Runtime and compares their outputs with ours.

run_onnx.py FOLDER: signatures.json and the models are what was exported; cases.json holds, for signatures,
inputs, our outputs and the largest difference that is allowed, absolute or relative to the value.
"""

import json
import sys

import numpy
import onnx
import onnxruntime

folder = sys.argv[1]


def load(name):
    with open(f"{folder}/{name}") as file:
        return json.load(file)


def array(tensor):
    return numpy.array(tensor["data"], dtype=tensor["dtype"].replace("boolean", "bool")).reshape(tensor["shape"])


def check(condition, what):
    if not condition:
        sys.exit(f"not as expected: {what}")


def described(values):
    names = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(int64)": "int64",
             "tensor(int32)": "int32", "tensor(uint8)": "uint8", "tensor(bool)": "bool"}
    return {v.name: {"dtype": names[v.type], "shape": [d if isinstance(d, int) else None for d in v.shape]}
            for v in values}


signatures = load("signatures.json")["signatures"]
for name, case in load("cases.json").items():
    signature = signatures[name]
    path = f"{folder}/{signature['model']}"
    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for part, values in (("inputs", session.get_inputs()), ("outputs", session.get_outputs())):
        check(described(values) == signature[part], f"{name}: {part} {described(values)} and {signature[part]}")
    inputs = {key: array(tensor) for key, tensor in case["inputs"].items()}
    for key, actual in zip(case["outputs"], session.run(list(case["outputs"]), inputs)):
        expected = array(case["outputs"][key])
        check(actual.dtype == expected.dtype and actual.shape == expected.shape,
              f"{name}: {key} is {actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}")
        with numpy.errstate(invalid="ignore"):
            difference = numpy.abs(actual.astype("float64") - expected) / numpy.maximum(1, numpy.abs(expected))
        difference = numpy.where(actual == expected, 0, difference)
        largest = difference.max(initial=0)
        check(largest <= case["tolerance"], f"{name}: {key} differs by {largest}")
        print(f"{name}: {key} {list(actual.shape)} differs by {largest:.2g}")
