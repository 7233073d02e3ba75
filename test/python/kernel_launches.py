"""Every CUDA kernel can be launched: kernel_launches.py KERNELS_FOLDER BUILD_FOLDER.

The registers of a block's threads must fit into the 65,536 of a multiprocessor, else the launch fails, which
only a GPU tells. The sources say how many threads kernels have. A build with CUDA says how many registers, in
*.ptxas (kernels/cmake/ptxas_report); what no build has compiled counts as 255, the most there are, unless it
has __launch_bounds__, which ptxas keeps. Kernels of CUB and Thrust, which have their own, are left out.
"""

import pathlib
import re
import sys

REGISTERS, MOST_PER_THREAD = 65536, 255


def constants_of(text):
    """The names that constexpr declarations give to plain expressions."""
    found = {}
    for declaration in re.findall(r"constexpr\s+(?:std::)?\w+\s+([^;{}()]*);", text):
        found.update(re.findall(r"(\w+)\s*=\s*([\w\s*/+<-]+)(?:,|$)", declaration))
    return found


def value_of(expression, constants):
    """The number that an expression of threads stands for."""
    size = re.fullmatch(r"\s*dim3\((.*)\)\s*", expression, re.S)
    if size:
        product = 1
        for side in size[1].split(","):
            product *= value_of(side, constants)
        return product
    while names := set(re.findall(r"[A-Za-z_]\w*", expression)):
        for name in names:
            if name not in constants:
                sys.exit(f"how many threads are '{expression}'? There is no constant '{name}'")
            expression = re.sub(rf"\b{name}\b", f"({constants[name]})", expression)
    return eval(expression.replace("/", "//"), {"__builtins__": {}})


def arguments_of(text):
    """What commas outside of parentheses divide."""
    depth, arguments = 0, [""]
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += character
    return arguments


class Kernel:
    def __init__(self, bound):
        self.bound = bound  # of threads, or None
        self.launched = None  # with so many threads; None if only by way of a pointer

    def threads(self):
        return self.bound or self.launched


def kernels_of(sources):
    text = "\n".join(sources)
    constants = constants_of(text)
    kernels = {}
    declaration = r"__global__\s+void\s*(?:__launch_bounds__\(((?:[^()]|\([^()]*\))*)\))?\s*(\w+)\s*\("
    for bound, name in re.findall(declaration, text):
        kernels[name] = Kernel(value_of(bound.split(",")[0], constants) if bound else None)
    launch = r"(\w+)\s*(?:<[^;<>]*(?:<[^<>]*>[^;<>]*)*>)?<<<(.*?)>>>"
    for name, arguments in re.findall(launch, text, re.S):
        if name in kernels:
            threads = value_of(arguments_of(arguments)[1], constants)
            kernels[name].launched = max(kernels[name].launched or 0, threads)
    return kernels


def compiled_by(reports):
    """(mangled name, registers) of each kernel that ptxas has spoken of."""
    entry = re.compile(r"entry function '(\S+)'.*?Used (\d+) registers", re.S)
    for report in reports:
        yield from ((name, int(registers)) for name, registers in entry.findall(report.read_text()))


def name_in(mangled, kernels):
    """The kernel that a mangled name begins with; others may be in its template arguments."""
    places = [(place, name) for name in kernels if (place := mangled.find(f"{len(name)}{name}")) >= 0]
    return min(places)[1] if places else None


def rounded_up(number, step):
    return (number + step - 1) // step * step


def misfit(registers, threads):
    taken = rounded_up(registers, 8) * rounded_up(threads, 32)
    return f"{threads} threads of {registers} registers take {taken}" if taken > REGISTERS else None


def problems_of(kernels, compiled):
    for name, kernel in kernels.items():
        if kernel.threads() is None:
            yield f"{name}: launched by a pointer, so it needs __launch_bounds__"
        elif kernel.bound and kernel.launched and kernel.launched > kernel.bound:
            yield f"{name}: launched with {kernel.launched} threads, bounds are {kernel.bound}"
        elif not kernel.bound and (wrong := misfit(MOST_PER_THREAD, kernel.launched)):
            yield f"{name}: {wrong} if the compiler likes; it needs __launch_bounds__"
    for mangled, registers in compiled:
        name = name_in(mangled, kernels)
        threads = name and kernels[name].threads()
        if threads and (wrong := misfit(registers, threads)):
            yield f"{mangled}: {wrong}"


def main(kernels_folder, build_folder):
    folder = pathlib.Path(kernels_folder)
    sources = [path.read_text() for path in sorted(folder.rglob("*")) if path.suffix in (".cu", ".h")]
    kernels = kernels_of(sources)
    reports = sorted(pathlib.Path(build_folder).rglob("*.ptxas"))
    compiled = list(compiled_by(reports))
    problems = list(problems_of(kernels, compiled))
    print("\n".join(problems) or "all can be launched:", f"{len(kernels)} kernels,",
          f"{len(compiled)} compiled ones in {len(reports)} reports")
    return 1 if problems or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
