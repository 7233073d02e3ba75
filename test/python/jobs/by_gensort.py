"""The rules of the sort benchmark judge gensort, terasort and valsort: by_gensort.py FOLDER_OF_PROGRAMS TEXT.

Of sortbenchmark.org's gensort 1.5, in Python: how it makes a record, and what its valsort looks at, which are the order
of the keys as unsigned bytes, the number of records, that of keys like the one before, and the sum of the records'
CRC-32.
"""

import os
import subprocess
import sys
import zlib

import judging

record_bytes, key_bytes = 100, 10
few = 25_000
# What gensort's makers publish for a million binary records.
million, checksum_of_a_million = 1_000_000, 0x7A27E2D0D55DE


def made_records(count):
    """The benchmark's records: its random numbers are r = r * a + c modulo 2^128."""
    r = 0
    for number in range(count):
        r = (r * 0x2360ED051FC65DA44385DF649FCCF645 + 0x4A696D47726179524950202020202001) % 2**128
        digits = f"{r % 2**48:012X}".encode()
        filler = b"".join(bytes([digit]) * 4 for digit in digits)
        yield ((r >> 48).to_bytes(10, "big") + b"\x00\x11" + f"{number:032X}".encode() + b"\x88\x99\xaa\xbb" + filler +
               b"\xcc\xdd\xee\xff")


def read(folder):
    contents = (open(file, "rb").read() for file in judging.part_files(folder))
    return [record for content in contents for record in judging.records_of(content, record_bytes)]


def summary(records):
    """Records, sum of CRC-32, records whose key is below or like that of the one before."""
    keys = [record[:key_bytes] for record in records]
    pairs = list(zip(keys, keys[1:]))
    return (len(records), sum(map(zlib.crc32, records)), sum(b < a for a, b in pairs), sum(a == b for a, b in pairs))


def told(folder):
    """What our valsort prints, and its exit status."""
    done = subprocess.run([f"{judging.programs}/gensort", "valsort", "--input", folder, "--quiet"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout, done.returncode


def check_told(folder):
    count, checksum, descents, repeated = summary(read(folder))
    expected = f"Records: {count}\nChecksum: {checksum:x}\nDuplicate keys: {repeated}\n", int(descents > 0)
    if descents == 0:
        expected = expected[0] + "SUCCESS - all records are in order\n", 0
    if told(folder) != expected:
        sys.exit(f"{folder}: valsort says {told(folder)}, expected {expected}")


def valsort(count, checksum, in_order):
    """The verdict by valsort's rules; no key comes twice."""
    def verdict(folder):
        records, sum_of_crcs, descents, repeated = summary(read(folder))
        judging.expect(records == count, f"{records} records, expected {count}")
        judging.expect(sum_of_crcs == checksum, f"the checksum is {sum_of_crcs:x}, expected {checksum:x}")
        judging.expect(repeated == 0, f"{repeated} keys are like the one before")
        judging.expect(not in_order or descents == 0, f"{descents} records are out of order")
    return verdict


def make_records():
    """Byte by byte what gensort makes; our valsort says of them, and of damaged ones, what its rules do."""
    expected = list(made_records(few))

    def verdict(folder):
        check_told(folder)
        judging.check_same(read(folder), expected, "the records")
    judging.judge(verdict, "gensort", "gensort", "--records", few, folder="few", record_bytes=record_bytes,
                  in_order=True)
    judging.judge(valsort(few, summary(expected)[1], True), "terasort", "--input", "few", folder="few.sorted",
                  record_bytes=record_bytes, in_order=True, least_files=10)


def sort_a_million():
    """The published checksum, of what is made and of what is sorted; by the programs' own sizes of parts."""
    judging.judge(valsort(million, checksum_of_a_million, False), "gensort", "gensort", "--records", million,
                  folder="million", record_bytes=record_bytes, cut=[], damage=False)
    judging.judge(valsort(million, checksum_of_a_million, True), "terasort", "--input", "million",
                  folder="million.sorted", record_bytes=record_bytes, cut=[], damage=False)
    check_told("million.sorted")


def sort_keys_of_each_kind():
    """In many files, and equal keys in the order of the input, which the benchmark does not ask for."""
    for keys in "uniform", "skewed", "equal":
        judging.run("gensort", "gensort", "--records", few, "--keys", keys, "--output", keys)
        expected = sorted(read(keys), key=lambda record: record[:key_bytes])
        repeated = summary(expected)[3]
        if (repeated == 0) != (keys == "uniform"):
            sys.exit(f"{keys}: {repeated} keys are like the one before")
        judging.judge(lambda folder: judging.check_same(read(folder), expected, "the records"), "terasort", "--input",
                      keys, folder=f"{keys}.sorted", record_bytes=record_bytes, in_order=True, least_files=10)


def sort_evenly():
    """Keys that repeat are divided as well as those that do not: the largest file has at most 1.2 times the mean."""
    for keys in "uniform", "skewed", "equal":
        made, result = f"{keys}.many", f"{keys}.even"
        judging.run("gensort", "gensort", "--records", 10 * few, "--keys", keys, "--output", made)
        judging.run("terasort", "--input", made, "--partitions", 8, "--output", result,
                    cut=["--split_bytes", "250000"])
        sizes = [os.path.getsize(file) for file in judging.part_files(result)]
        if len(sizes) != 8 or sum(sizes) != 10 * few * record_bytes or max(sizes) > 1.2 * sum(sizes) / 8:
            sys.exit(f"{result}: files of {sizes} bytes")
        print(f"{result}: the largest file has {max(sizes) / sum(sizes) * 8:.2f} times the mean", flush=True)


judging.in_own_folder(make_records, sort_a_million, sort_keys_of_each_kind, sort_evenly)
