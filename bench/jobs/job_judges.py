"""Judges of what jobs have made: job_judges.py JOB NAME=VALUE... fails, and says why, if that is wrong."""

import csv
import glob
import sys

csv.field_size_limit(1 << 30)
job = sys.argv[1]
given = dict(argument.split("=", 1) for argument in sys.argv[2:])


def check(condition, what):
    if not condition:
        sys.exit(f"{job}: not as expected: {what}")


def rows(folder):
    files = sorted(glob.glob(f"{folder}/part-*.csv"))
    check(files, f"no output in {folder}")
    return [row for file in files for row in csv.reader(open(file, newline=""))]


def numbers(folder):
    import numpy
    return numpy.array(rows(folder), dtype=float)


def check_close(ours, expected, what):
    import numpy
    check(numpy.allclose(ours, expected, rtol=1e-9, atol=1e-9), f"{what}: {ours} and {expected}")


def inverted_index():
    """As many words in as many files, and of each word the first file and the last."""
    import duckdb
    expected = duckdb.sql(f"""
        select word, count(distinct file), min(file), max(file)
        from (select filename as file, unnest(string_split_regex(line, '\\s+')) as word
              from read_csv('{given["input"]}/*', filename=true, header=false, columns={{'line': 'varchar'}},
                            delim='\\x01', quote='', escape='', auto_detect=false))
        where word <> '' group by word""").fetchall()
    ours = [(word, int(count), files.split(" ")[0], files.split(" ")[-1])
            for word, count, files in rows(given["output"]) if check(files.count(" ") + 1 == int(count), word) is None]
    check(ours == sorted(ours), "the order of the words")
    check(ours == sorted(expected, key=lambda row: row[0].encode()), "the index")


def count_keys():
    """The same number of rows, the same sums of what rows hash to, and no key twice."""
    import duckdb
    db = duckdb.connect(config={"temp_directory": given["expected"] + ".tmp"})
    db.execute("set memory_limit='4GB'")
    sums = lambda files: db.sql(f"""
        select count(*), sum(n), sum(hash(key, n)::hugeint), bit_xor(hash(n, key))
        from read_csv('{files}', header=false, columns={{'key': 'bigint', 'n': 'bigint'}}, auto_detect=false)""").fetchall()
    check(sums(f"{given['output']}/part-*.csv") == sums(given["expected"]), "the counts")


def q1():
    ours, expected = rows(given["output"]), list(csv.reader(open(given["expected"])))
    check([r[:2] for r in ours] == [r[:2] for r in expected], "the groups")
    check_close([[float(x) for x in r[2:]] for r in ours], [[float(x) for x in r[2:]] for r in expected], "the numbers")


def q3():
    row = lambda r: (int(r[0]), round(float(r[1]), 4), r[2], int(r[3]))
    check([row(r) for r in rows(given["output"])] == [row(r) for r in csv.reader(open(given["expected"]))], "the rows")


def k_means():
    import numpy
    import sklearn.cluster
    points = numpy.fromfile(given["input"]).reshape(-1, 20)
    fitted = sklearn.cluster.KMeans(16, init=points[:16], n_init=1, max_iter=int(given["rounds"]), tol=0,
                                    algorithm="lloyd").fit(points)
    check_close(numbers(given["output"]), fitted.cluster_centers_, "the centres")


def logistic_regression():
    import numpy
    examples = numpy.fromfile(given["input"]).reshape(-1, 21)
    labels, with_one = examples[:, 20].copy(), examples
    with_one[:, 20] = 1
    weights = numpy.zeros(21)
    for _ in range(int(given["rounds"])):
        errors = 1 / (1 + numpy.exp(-with_one @ weights)) - labels
        weights -= 0.5 * with_one.T @ errors / len(labels)
    check_close(numbers(given["output"])[0], weights, "the weights")


def top_numbers():
    import numpy
    all_numbers, count = numpy.fromfile(given["input"]), int(given["count"])
    best = numpy.sort(numpy.partition(all_numbers, len(all_numbers) - count)[-count:])[::-1]
    check((numbers(given["output"])[:, 0] == best).all(), "the numbers")


globals()[job]()
