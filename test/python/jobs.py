"""Compares the map/reduce programs with Python, DuckDB, NumPy and scikit-learn, which compute the same.

jobs.py FOLDER_OF_PROGRAMS TEXT: each program runs as a user runs it, with parts so small that there are many.
"""

import collections
import csv
import glob
import gzip
import os
import random
import subprocess
import sys
import tempfile
import zlib

import duckdb
import numpy
import sklearn.cluster

programs, text = sys.argv[1:3]
data = os.path.dirname(os.path.dirname(text))
small = ["--split_bytes", "20000", "--partition_bytes", "30000", "--quiet"]


def check(condition, what):
    if not condition:
        sys.exit(f"not as expected: {what}")


def run(program, *arguments):
    return subprocess.run([f"{programs}/{program}", *map(str, arguments), *small], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def rows(folder):
    check(os.path.exists(f"{folder}/_SUCCESS"), f"no _SUCCESS in {folder}")
    files = sorted(glob.glob(f"{folder}/part-*.csv"))
    return [tuple(row) for file in files for row in csv.reader(open(file, newline=""))]


def count_words():
    counts = collections.Counter(open(text, "rb").read().split())
    run("word_count", "--input", text, "--output", "counts")
    check(len(glob.glob("counts/part-*")) > 3, "the words are not in several files")
    check({w.encode(): int(n) for w, n in rows("counts")} == counts, "word_count and collections.Counter")
    run("top_k", "--input", text, "--output", "top", "--k", 30)
    best = sorted(((n, w) for w, n in counts.items()), reverse=True)[:30]
    check([(int(n), w.encode()) for w, n in rows("top")] == best, "top_k")


def index_words():
    os.mkdir("books")
    lines = open(text).readlines()
    for i in range(50):
        open(f"books/{i:02}.txt", "w").writelines(lines[i::50])
    files = collections.defaultdict(set)
    for path in glob.glob("books/*.txt"):
        for word in open(path, "rb").read().split():
            files[word].add(path)
    run("inverted_index", "--input", "books", "--output", "index")
    expected = [(w.decode(), str(len(f)), " ".join(sorted(f))) for w, f in sorted(files.items())]
    check(rows("index") == expected, "inverted_index")


def sort_records():
    run("gensort", "gensort", "--records", 5000, "--output", "unsorted")
    data = b"".join(open(f, "rb").read() for f in sorted(glob.glob("unsorted/part-*.bin")))
    records = [data[i:i + 100] for i in range(0, len(data), 100)]
    run("terasort", "--input", "unsorted", "--output", "sorted")
    parts = sorted(glob.glob("sorted/part-*.bin"))
    check(len(parts) > 10, "the sorted records are not in several files")
    result = b"".join(open(f, "rb").read() for f in parts)
    check(result == b"".join(sorted(records, key=lambda r: r[:10])), "terasort and sorted()")
    told = run("gensort", "valsort", "--input", "sorted")
    check(f"checksum {sum(map(zlib.crc32, records)):x}\n" in told and "out of order 0\n" in told, told)


def join_rows():
    """Also with keys that have a third of the rows of one side or the other."""
    draw = random.Random(1)
    for side, count, hot in ("left", 3000, 401), ("right", 2000, 7):
        with open(f"{side}.csv", "w", newline="") as file:
            keys = (hot if draw.random() < 0.3 else draw.randrange(400) for _ in range(count))
            csv.writer(file).writerows((f"k{key}", f'{side},"{i}"') for i, key in enumerate(keys))
    for side in "left", "right":
        duckdb.sql(f"create table {side}_rows as select * from read_csv('{side}.csv', header=false, names=['k', 'v'])")
    for kind, word in ("inner", "join"), ("left", "left join"), ("outer", "full join"):
        run("join", "--left", "left.csv", "--right", "right.csv", "--kind", kind, "--output", kind)
        expected = duckdb.sql(f"""select coalesce(l.k, r.k), coalesce(l.v, ''), coalesce(r.v, '')
                                  from left_rows l {word} right_rows r on l.k = r.k""").fetchall()
        check(sorted(rows(kind)) == sorted(expected), f"{kind} join")


def query():
    subprocess.run([f"{os.path.dirname(sys.executable)}/tpchgen-cli", "csv", "-s", "0.01", "--output-dir", "tpch"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tables = {name: f"tpch/{name}.csv" for name in ("customer", "orders", "lineitem")}
    for name, path in tables.items():
        duckdb.sql(f"create view {name} as select * from read_csv('{path}')")
    run("sql", "q1", "--lineitem", tables["lineitem"], "--output", "q1")
    expected = duckdb.sql("""
        select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
               sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
               avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-09-02' group by all order by 1, 2""").fetchall()
    ours = rows("q1")
    check([r[:2] for r in ours] == [r[:2] for r in expected], "the groups of query 1")
    numbers = lambda table: numpy.array([r[2:] for r in table], dtype=float)
    check(numpy.allclose(numbers(ours), numbers(expected), rtol=1e-9, atol=0), "the numbers of query 1")

    run("sql", "q3", *[x for name, path in tables.items() for x in ("--" + name, path)], "--output", "q3")
    expected = duckdb.sql("""
        select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority
        from customer, orders, lineitem
        where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
          and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
        group by all order by revenue desc, o_orderdate limit 10""").fetchall()
    check([(int(k), round(float(r), 4), d, int(p)) for k, r, d, p in rows("q3")] ==
          [(k, round(float(r), 4), str(d), p) for k, r, d, p in expected], "query 3")


def learn():
    draw = numpy.random.default_rng(1)
    middles = draw.normal(size=(16, 20)) * 5
    points = middles[draw.integers(16, size=3000)] + draw.normal(size=(3000, 20))
    points.tofile("points.bin")
    points[:16].tofile("start.bin")
    run("k_means", "--input", "points.bin", "--start", "start.bin", "--rounds", 8, "--output", "centres")
    # Lloyd's rounds by scikit-learn's own step, without its stop at convergence and its empty clusters.
    fitted = sklearn.cluster.KMeans(16, init=points[:16], n_init=1, max_iter=8, tol=0, algorithm="lloyd").fit(points)
    check(numpy.abs(numpy.array(rows("centres"), dtype=float) - fitted.cluster_centers_).max() < 1e-9,
          "k_means and scikit-learn")

    labels = (points @ draw.normal(size=20) + draw.normal(size=3000) > 0).astype(float)
    scaled = points / 5
    numpy.column_stack([scaled, labels]).tofile("examples.bin")
    run("logistic_regression", "--input", "examples.bin", "--rounds", 30, "--rate", 0.5, "--output", "weights")
    with_one, weights = numpy.column_stack([scaled, numpy.ones(3000)]), numpy.zeros(21)
    for _ in range(30):
        errors = 1 / (1 + numpy.exp(-with_one @ weights)) - labels
        weights -= 0.5 * with_one.T @ errors / 3000
    check(numpy.abs(numpy.array(rows("weights")[0], dtype=float) - weights).max() < 1e-9,
          "logistic_regression and NumPy")

    numpy.savetxt("numbers.txt", points[:, 0], fmt="%.17g")
    check(abs(float(run("mean", "--input", "numbers.txt").split()[0]) - points[:, 0].mean()) < 1e-5, "mean")


def idx(name, header):
    return numpy.frombuffer(gzip.open(f"{data}/mnist/t10k-{name}.gz").read(), dtype=numpy.uint8, offset=header)


def send_to_shards():
    lengths = collections.Counter(min(len(word), 31) for word in open(text, "rb").read().split())
    run("histogram", "--input", text, "--output", "lengths")
    check([(int(n), int(c)) for n, c in rows("lengths")] == [(n, lengths[n]) for n in range(32)], "histogram")

    # Is it a digit above 4? The features are the pixels that are not black.
    images, labels = idx("images-idx3-ubyte", 16).reshape(-1, 784)[:2000], idx("labels-idx1-ubyte", 8)[:2000] > 4
    features = [numpy.flatnonzero(image)[:256] + 1 for image in images]
    open("sparse.txt", "w").writelines(f"{int(label)} {' '.join(map(str, f))}\n" for label, f in zip(labels, features))
    run("sparse_regression", "--input", "sparse.txt", "--output", "sparse", "--rate", 0.02, "--epochs", 3)
    ours = numpy.array(rows("sparse"), dtype=float)[:, 0]
    ids = numpy.zeros((2000, 256), dtype=int)
    for row, f in zip(ids, features):
        row[:len(f)] = f
    weights = numpy.zeros(785)
    for batch in [numpy.arange(i, min(i + 64, 2000)) for i in range(0, 2000, 64)] * 3:
        errors = 1 / (1 + numpy.exp(-weights[ids[batch]].sum(axis=1))) - labels[batch]
        numpy.add.at(weights, ids[batch].ravel(), -0.02 * numpy.repeat(errors / len(batch), 256))
        weights[0] = 0  # no feature
    check(numpy.abs(ours - weights).max() < 1e-4, f"sparse_regression and NumPy: {numpy.abs(ours - weights).max()}")
    right = ((weights[ids].sum(axis=1) > 0) == labels).mean()
    check(right > 0.75, f"the weights tell {right:.0%} of the digits")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in count_words, index_words, sort_records, join_rows, query, learn, send_to_shards:
        part()
        print(part.__name__, "as expected")
