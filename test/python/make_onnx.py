"""Writes ONNX models as others make them, with inputs and what ONNX Runtime computes of them.

make_onnx.py FOLDER: NAME.onnx, and NAME.json with {"inputs": {name: tensor}, "outputs": {name: tensor}}, for
each model; a tensor is {"shape": [...], "data": [...]}, of float32.
"""

import json
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = numpy.random.default_rng(7)


def tensor(*shape, low=-2, high=2):
    return random.uniform(low, high, shape).astype(numpy.float32)


def described(array):
    return {"shape": list(array.shape), "data": [float(x) for x in array.ravel()]}


def write(name, nodes, x, weights=(), opset=17, open_batch=True):
    shape = ["batch", *x.shape[1:]] if open_batch else list(x.shape)
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, key) for key, value in dict(weights).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, f"{folder}/{name}.onnx")
    session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx", providers=["CPUExecutionProvider"])
    y = session.run(["y"], {"x": x})[0]
    with open(f"{folder}/{name}.json", "w") as file:
        json.dump({"inputs": {"x": described(x)}, "outputs": {"y": described(y)}}, file)


def node(op, inputs, output="y", **attributes):
    return helper.make_node(op, inputs, [output], name=f"{op}_{output}", **attributes)


ints = lambda *values: numpy.array(values, numpy.int64)
images = tensor(2, 3, 9, 8)
filter_ = {"w": tensor(4, 3, 3, 3), "b": tensor(4)}

# A block as PyTorch exports it: padding on both sides, stored statistics, the mean of all pixels, a dense layer.
write("block", [
    node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3], dilations=[1, 1], group=1),
    node("BatchNormalization", ["c", "scale", "offset", "mean", "variance"], "n", epsilon=1e-3),
    node("Relu", ["n"], "r"),
    node("MaxPool", ["r"], "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    node("GlobalAveragePool", ["p"], "g"),
    node("Flatten", ["g"], "f", axis=1),
    node("Gemm", ["f", "dense", "bias"], "y", alpha=0.5, beta=2.0, transB=1),
], images, {**filter_, "scale": tensor(4), "offset": tensor(4), "mean": tensor(4),
            "variance": tensor(4, low=0.5, high=2), "dense": tensor(5, 4), "bias": tensor(5)})
write("uneven_padding", [node("Conv", ["x", "w"], pads=[0, 1, 2, 0])], images, {"w": filter_["w"]})
# Elements below zero, so that zeros around them would be larger.
write("max_pool_of_negatives", [node("MaxPool", ["x"], kernel_shape=[2, 3], pads=[1, 1, 0, 1])],
      tensor(2, 3, 5, 6, low=-3, high=-1))
write("average_pool", [node("AveragePool", ["x"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 1])], images)
write("average_pool_with_zeros",
      [node("AveragePool", ["x"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)], images)
write("global_max_pool", [node("GlobalMaxPool", ["x"])], images)
write("softmax_of_channels", [node("Softmax", ["x"], axis=1)], images)
write("batch_norm_of_rows", [node("BatchNormalization", ["x", "s", "o", "m", "v"])], tensor(4, 6),
      {"s": tensor(6), "o": tensor(6), "m": tensor(6), "v": tensor(6, low=0.5, high=1)})
write("activations", [
    node("Clip", ["x", "low", "high"], "a"), node("LeakyRelu", ["x"], "b", alpha=0.3),
    node("Elu", ["x"], "c", alpha=0.7), node("Softplus", ["x"], "d"), node("Erf", ["x"], "e"),
    node("Sin", ["x"], "f"), node("Cos", ["x"], "g"), node("Floor", ["x"], "h"), node("Ceil", ["x"], "i"),
    node("Round", ["x"], "j"), node("Clip", ["x", "", "high"], "k"), node("Pow", ["x", "two"], "l"),
    node("Concat", list("abcdefghijkl"), "y", axis=-1),
], tensor(3, 4), {"low": numpy.float32(-0.5), "high": numpy.float32(0.75), "two": ints(2)[0]})
write("gelu", [node("Gelu", ["x"], approximate="tanh")], tensor(3, 4), opset=20)
# From the end, beyond it, and along some axes.
write("slices", [
    node("Slice", ["x", "starts", "ends", "axes"], "a"), node("Slice", ["a", "one", "far", "last"], "b"),
    node("Unsqueeze", ["b", "front"], "c"), node("Squeeze", ["c", "front"], "d"),
    node("Gather", ["d", "ends_of"], "y", axis=2),
], tensor(2, 5, 6), {"starts": ints(-4), "ends": ints(-1), "axes": ints(1), "one": ints(1), "far": ints(2**62),
                     "last": ints(-1), "front": ints(0), "ends_of": ints(-1, 0)})
write("shapes", [
    node("Reshape", ["x", "as_it_was"], "a"), node("Transpose", ["a"], "b", perm=[0, 2, 1]),
    node("Expand", ["one", "wide"], "c"), node("Add", ["b", "c"], "d"),
    node("ReduceMean", ["d"], "e", axes=[-1], keepdims=0), node("ReduceSum", ["e", "axis"], "f", keepdims=1),
    node("Constant", [], "g", value_float=2.5), node("Mul", ["f", "g"], "y"),
], tensor(2, 3, 4), {"as_it_was": ints(0, -1, 3), "one": tensor(1, 1, 4), "wide": ints(1, 3, 4), "axis": ints(1)})
# Since operator set 18 axes are an input.
write("later_reductions", [
    node("ReduceMean", ["x", "axes"], "a"), node("ReduceMax", ["x", "axes"], "b"), node("ReduceMin", ["x", "axes"], "c"),
    node("Sum", ["a", "b", "c"]),
], tensor(2, 3, 4), {"axes": ints(1)}, opset=18)
write("attention", [
    node("LayerNormalization", ["x", "gamma", "beta"], "n", axis=-1, epsilon=1e-5), node("MatMul", ["n", "q"], "a"),
    node("Transpose", ["n"], "k", perm=[0, 2, 1]), node("MatMul", ["a", "k"], "s"), node("Softmax", ["s"], "p"),
    node("MatMul", ["p", "n"], "y"),
], tensor(2, 3, 4), {"gamma": tensor(4), "beta": tensor(4), "q": tensor(4, 4)})
