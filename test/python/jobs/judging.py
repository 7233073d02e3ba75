"""What the judges of map/reduce programs share: running a program as a user does, reading its files, judging them.

A verdict is a function that takes a folder of results and raises Disagreement unless they are right. judge() also shows
it damaged copies of right results, each of which it has to refuse, since a judge that cannot fail says nothing.
"""

import csv
import glob
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

import xxhash

programs, text = map(os.path.abspath, sys.argv[1:3])
# So small that files of a few kilobytes have many parts, and results have several files.
many_parts = ["--split_bytes", "20000", "--partition_bytes", "30000"]
csv.field_size_limit(1 << 30)


class Disagreement(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Disagreement(what)


def skip(reason):
    """Ends this test as one that CTest counts as skipped."""
    print(f"skipped: {reason}")
    sys.exit(77)


def needed(module, how):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        skip(f"{error}; to install it: {how}")


def run(program, *arguments, cut=many_parts):
    return subprocess.run([f"{programs}/{program}", *map(str, arguments), *cut, "--quiet"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def part_files(folder):
    return sorted(glob.glob(f"{folder}/part-*"))


def rows(folder, columns=None):
    """Rows of text by Python's reader of CSV, in the order of the files; `columns` is for readers that have to know."""
    return [tuple(row) for file in part_files(folder) for row in csv.reader(open(file, newline=""))]


def check_same(ours, expected, what):
    """Compares lists; says where they differ first."""
    place = next((i for i, (a, b) in enumerate(zip(ours, expected)) if a != b), min(len(ours), len(expected)))
    shown = lambda values: f"{str(values[place])[:200]} of {len(values)}" if place < len(values) else f"{len(values)}"
    expect(len(ours) == len(expected) and place == len(ours),
           f"{what}: at {place} ours is {shown(ours)}, expected {shown(expected)}")


def same_rows(expected, what, read=rows, in_order=False):
    """The verdict that compares rows as text, in their order or as a multiset."""
    expected = [tuple(map(str, row)) for row in expected]
    arranged = list if in_order else sorted
    wanted = arranged(expected)
    return lambda folder: check_same(arranged(read(folder, len(expected[0]))), wanted, what)


def check_success_file(folder, record_bytes):
    """_SUCCESS names all files of a result with their bytes, records and checksums, as xxhsum -H64 computes them."""
    told = json.load(open(f"{folder}/_SUCCESS"))
    files = part_files(folder)
    check_same(told["files"], [os.path.basename(file) for file in files], f"files in {folder}/_SUCCESS")
    contents = [open(file, "rb").read() for file in files]
    check_same(told["bytes"], [len(c) for c in contents], f"bytes in {folder}/_SUCCESS")
    check_same(told["records"], [len(records_of(c, record_bytes)) for c in contents], f"records in {folder}/_SUCCESS")
    check_same(told["xxh64"], [xxhash.xxh64_hexdigest(c) for c in contents], f"checksums in {folder}/_SUCCESS")


def records_of(content, record_bytes):
    if record_bytes is None:
        expect(not content or content.endswith(b"\n"), "the last row has no end")
        return [line + b"\n" for line in content.split(b"\n")[:-1]]
    expect(len(content) % record_bytes == 0, f"{len(content)} bytes are no records of {record_bytes}")
    return [content[i:i + record_bytes] for i in range(0, len(content), record_bytes)]


def changed_fields(line):
    """A row of CSV with one field changed, for each of its fields."""
    fields = next(csv.reader([line.decode("latin-1")]))  # so that any bytes are read, and written again
    for i, field in enumerate(fields):
        digit = next((at for at, c in enumerate(field) if c in "0123456789"), None)
        other = field + "x" if digit is None else field[:digit] + str((int(field[digit]) + 1) % 10) + field[digit + 1:]
        row = io.StringIO()
        csv.writer(row, lineterminator="\n").writerow(fields[:i] + [other] + fields[i + 1:])
        yield f"with another value in column {i + 1}", row.getvalue().encode("latin-1")


def changed_bytes(record):
    for at in 0, len(record) // 2, len(record) - 1:
        yield f"with a bit changed in byte {at}", record[:at] + bytes([record[at] ^ 1]) + record[at + 1:]


def damages(records, record_bytes, in_order):
    """Contents that are nearly right, and what is wrong with them."""
    middle = len(records) // 2
    before, record, after = records[:middle], records[middle], records[middle + 1:]
    if len(records) > 1:
        yield "without a record", before + after
    yield "with a record twice", before + [record, record] + after
    for what, other in changed_fields(record) if record_bytes is None else changed_bytes(record):
        yield what, before + [other] + after
    other = next((i for i, r in enumerate(records) if r[:10] != record[:10]), None)
    if in_order and other is not None:
        swapped = list(records)
        swapped[middle], swapped[other] = swapped[other], swapped[middle]
        yield "with two records swapped", swapped


def refuse_damaged(folder, verdict, record_bytes, in_order):
    file = max(part_files(folder), key=os.path.getsize)
    count = 0
    for what, records in damages(records_of(open(file, "rb").read(), record_bytes), record_bytes, in_order):
        damaged = f"{folder}.damaged"
        shutil.copytree(folder, damaged, copy_function=os.link)
        os.remove(f"{damaged}/{os.path.basename(file)}")
        open(f"{damaged}/{os.path.basename(file)}", "wb").write(b"".join(records))
        try:
            verdict(damaged)
        except Disagreement:
            count += 1
        else:
            sys.exit(f"{folder}: the judge accepts a result {what}")
        shutil.rmtree(damaged)
    return count


def judge(verdict, program, *arguments, folder, record_bytes=None, in_order=False, least_files=1, cut=many_parts,
          damage=True):
    """Runs a program that writes `folder`, and judges that. Ends this process where the result is wrong, or where
    the verdict accepts a damaged one. `record_bytes` is of binary records; without it they are rows of CSV."""
    try:
        run(program, *arguments, "--output", folder, cut=cut)
        check_success_file(folder, record_bytes)
        expect(len(part_files(folder)) >= least_files, f"only {len(part_files(folder))} files in {folder}")
        verdict(folder)
    except Disagreement as difference:
        sys.exit(f"{folder}: not as expected: {difference}")
    refused = f"; {refuse_damaged(folder, verdict, record_bytes, in_order)} damaged copies refused" if damage else ""
    print(f"{folder}: as expected{refused}", flush=True)


def in_own_folder(*judges):
    """Calls the judges in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for one in judges:
            one()
        os.chdir("/")
