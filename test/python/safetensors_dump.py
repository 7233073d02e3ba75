"""Prints what the safetensors package finds in files: name, dtype, shape and values of each tensor."""
import sys

from safetensors.numpy import load_file

for path in sys.argv[1:]:
    for name, tensor in sorted(load_file(path).items()):
        print(name, tensor.dtype, list(tensor.shape), tensor.flatten().tolist())
