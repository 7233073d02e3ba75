"""Python's standard library judges the map/reduce programs: by_python.py FOLDER_OF_PROGRAMS TEXT.

Engines of tables (table_jobs.py) judge some of them, too, but only this one takes bytes for words that are no UTF-8.
"""

import collections
import csv
import glob
import math
import random
import sys

import inputs
import judging


def byte_rows(folder, columns):
    """Rows whose texts have the bytes of the file, whatever they are."""
    files = (open(file, newline="", encoding="latin-1") for file in judging.part_files(folder))
    return [tuple(row) for file in files for row in csv.reader(file)]


def words_of(path):
    return [word.decode("latin-1") for word in open(path, "rb").read().split()]


def any_bytes():
    """A text of all bytes, so that most of it is no UTF-8."""
    draw = random.Random(2)
    open("bytes.txt", "wb").write(bytes(draw.choice([*range(256), *b" \n" * 40]) for _ in range(100_000)))
    return "bytes.txt"


def count_words():
    for path, files in (judging.text, 4), (inputs.odd_text(), 1), (any_bytes(), 2):
        name = path.split("/")[-1].removesuffix(".txt")
        counts = collections.Counter(words_of(path))
        judging.judge(judging.same_rows(counts.items(), "the counts", byte_rows), "word_count", "--input", path,
                      folder=f"word_count.{name}", least_files=files)
        best = sorted(counts.items(), key=lambda row: (row[1], row[0]), reverse=True)[:30]
        judging.judge(judging.same_rows(best, "the best", byte_rows, in_order=True), "top_k", "--input", path, "--k",
                      30, folder=f"top_k.{name}", in_order=True)


def index_words():
    folder, files = inputs.books(), collections.defaultdict(set)
    for path in glob.glob(f"{folder}/*"):
        for word in words_of(path):
            files[word].add(path)
    expected = [(word, len(paths), " ".join(sorted(paths))) for word, paths in sorted(files.items())]
    judging.judge(judging.same_rows(expected, "the index", byte_rows, in_order=True), "inverted_index", "--input",
                  folder, folder="inverted_index", in_order=True, least_files=4)


def rank_numbers():
    path, by_key = inputs.numbers_by_key(), collections.defaultdict(list)
    for key, number in csv.reader(open(path, newline="")):
        by_key[key].append(int(number))
    expected = []
    for key, numbers in by_key.items():
        numbers.sort(reverse=True)
        for i, number in enumerate(numbers):
            before = numbers[i - 1] if i > 0 else ""
            expected.append((key, number, i + 1, numbers.index(number) + 1, sum(numbers[:i + 1]), before))
    judging.judge(judging.same_rows(expected, "the ranks"), "ranked", "--input", path, "--k",
                  len(expected), folder="ranked")


def count_lengths():
    lengths = collections.Counter(min(len(word), 31) for word in words_of(judging.text))
    judging.judge(judging.same_rows([(n, lengths[n]) for n in range(32)], "the lengths", in_order=True), "histogram",
                  "--input", judging.text, folder="histogram", in_order=True)


def mean():
    draw = random.Random(3)
    numbers = [draw.gauss(1, 1) * 10 ** draw.randrange(6) for _ in range(20_000)]
    expected = math.fsum(numbers) / len(numbers)
    open("numbers.txt", "w").writelines(f"{number!r}\n" for number in numbers)

    def verdict(folder):
        ours = judging.rows(folder)
        judging.expect([row[1:] for row in ours] == [(str(len(numbers)),)], f"the count: {ours}")
        judging.expect(math.isclose(float(ours[0][0]), expected, rel_tol=1e-12), f"the mean: {ours}, not {expected}")
    judging.judge(verdict, "mean", "--input", "numbers.txt", folder="mean")

    printed = judging.run("mean", "--input", "numbers.txt")
    if printed != f"{expected:.6g} is the mean of {len(numbers)} numbers\n":
        sys.exit(f"mean prints {printed}, expected {expected}")


judging.in_own_folder(count_words, index_words, rank_numbers, count_lengths, mean)
