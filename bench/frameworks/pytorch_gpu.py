"""What PyTorch does on a GPU: the baseline of bench/gpu/gpu.cpp.

Usage: pytorch_gpu.py [--quick]
Prints a line "NAME PER_SECOND" for each measurement; nothing if PyTorch sees no GPU. Models are compiled by
torch.compile in the mode that makes CUDA graphs. Batches come from the host's memory, page-locked, as those of a
training program do, and the loss is read in each step.
"""

import sys
import time
import warnings

warnings.filterwarnings("ignore")

import torch
from torch.nn import functional

from pytorch_step import Gpt, mlp, resnet20

QUICK = "--quick" in sys.argv


def per_second(run, seconds):
    """Calls per second, the GPU's work included."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    calls, start = 0, time.perf_counter()
    while time.perf_counter() < start + seconds:
        for _ in range(10):
            run()
        torch.cuda.synchronize()
        calls += 10
    return calls / (time.perf_counter() - start)


def report(name, run):
    figure = per_second(run, 0.05 if QUICK else 1.0)
    print(name, figure, flush=True)
    return figure


def products():
    a, b = (torch.rand(8192, 8192, device="cuda") - 0.5 for _ in range(2))
    for name, dtype, precision in (("bf16", torch.bfloat16, "highest"), ("tf32", torch.float32, "high"),
                                   ("float32", torch.float32, "highest")):
        torch.set_float32_matmul_precision(precision)
        x, y = a.to(dtype), b.to(dtype)
        figure = report("product_8192_" + name, lambda: x @ y)
        if name == "bf16":  # ours in float32 has the same product beside it
            print("product_8192_rounded_to_bf16", figure, flush=True)


def dense_layers():
    torch.set_float32_matmul_precision("high")  # TF32, as ours
    for features, units in ((512, 512), (128, 512)):
        x, bias = torch.rand(16384, features, device="cuda") - 0.5, torch.rand(units, device="cuda") - 0.5
        weights = torch.rand(units, features, device="cuda") - 0.5
        figure = report(f"dense_16384_{features}_{units}_tf32", lambda: functional.linear(x, weights, bias))
        if features == units:  # the same with each layout of the weights, beside ours in that layout
            print(f"dense_16384_{features}_{units}_tf32_weights_out_in", figure, flush=True)
            in_out = weights.t().contiguous()
            report(f"dense_16384_{features}_{units}_tf32_weights_in_out", lambda: torch.addmm(bias, x, in_out))
    for rows, columns in ((16384, 512), (16384, 128), (65536, 65)):
        g = torch.rand(rows, columns, device="cuda") - 0.5
        report(f"bias_gradient_{rows}_{columns}", lambda: g.sum(0))


def kernels():
    x = torch.rand(16384, 1024, device="cuda", requires_grad=True)
    gamma, beta = (torch.rand(1024, device="cuda", requires_grad=True) for _ in range(2))
    norm = lambda: functional.layer_norm(x, (1024,), gamma, beta, 1e-3)
    with torch.no_grad():
        report("layer_norm_16384_1024", norm)
    y, g = norm(), torch.rand(16384, 1024, device="cuda")
    report("layer_norm_gradient_16384_1024",
           lambda: torch.autograd.grad(y, (x, gamma, beta), g, retain_graph=True))
    table = torch.rand(100_000, 64, device="cuda")
    places = torch.randint(100_000, (1_000_000,), device="cuda")
    rows = torch.rand(1_000_000, 64, device="cuda")
    torch.use_deterministic_algorithms(True)  # as ours is
    report("scatter_add_1M_rows_of_64", lambda: table.index_add(0, places, rows))
    torch.use_deterministic_algorithms(False)


def batch_of(model, shape):
    if isinstance(model, Gpt):
        ids = torch.randint(65, shape)
        return ids.pin_memory(), ids.flatten().pin_memory()
    return torch.rand(shape).pin_memory(), torch.randint(10, shape[:1]).pin_memory()


def training(name, model, shape):
    torch._dynamo.reset()  # or the same net with another batch would be compiled for any batch
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(1)
    model = model.cuda()
    if len(shape) == 4:
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def loss_of(x, labels):
        return functional.cross_entropy(model(x), labels)

    compiled = torch.compile(loss_of, mode="reduce-overhead")
    update = torch.compile(optimizer.step)
    batches = [batch_of(model, shape) for _ in range(4)]
    state = {"step": 0}

    def step():
        x, labels = batches[state["step"] % len(batches)]
        state["step"] += 1
        x = x.to("cuda", non_blocking=True)
        if len(shape) == 4:
            x = x.to(memory_format=torch.channels_last)
        optimizer.zero_grad(set_to_none=True)
        loss = compiled(x, labels.to("cuda", non_blocking=True))
        loss.backward()
        update()
        return loss.item()

    for _ in range(10):
        step()
    print(name, per_second(step, 0.05 if QUICK else 2.0), flush=True)


def main():
    if not torch.cuda.is_available():
        return
    products()
    with torch.no_grad():
        dense_layers()
    kernels()
    for name, model, shape in (
            ("mlp_784_128_10_batch_64", mlp(784, 128, 10), (64, 784)),
            ("mlp_784_1024_1024_10_batch_128", mlp(784, 1024, 1024, 10), (128, 784)),
            ("resnet20_batch_128", resnet20(), (128, 3, 32, 32)),
            ("resnet20_batch_512", resnet20(), (512, 3, 32, 32)),
            ("transformer_4x128_batch_256", Gpt(), (256, 64))):
        training(name, model, shape)


main()
