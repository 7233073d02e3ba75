"""Writes Parquet files as others make them: make_parquet.py FOLDER. test/jobs/parquet.cpp reads them.

types.parquet   a column of each type, whose values follow from the row's number; every seventh row is null, but
                in `row`
codecs/         the same rows of two columns, each file by another codec
sorted.parquet  numbers that fall, in one row group
parts.parquet   numbers in row groups of 100
lists.parquet   a list, and a struct
units/          the same time in two units
"""

import datetime
import decimal
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

os.chdir(sys.argv[1])
rows = 5000
epoch = datetime.datetime(1970, 1, 1)


def column(kind, value):
    return pa.array([None if i % 7 == 3 else value(i) for i in range(rows)], kind)


def write(path, columns, **options):
    options = {"row_group_size": 1700, "data_page_size": 3000, "write_page_checksum": True} | options
    pq.write_table(pa.table(columns), path, **options)


def of_digits(places, digits):
    return lambda i: decimal.Decimal(digits(i)).scaleb(-places, decimal.Context(40))


text = lambda i: f"text {i % 13}" * (i % 3)
write("types.parquet", {
    "row": pa.array(range(rows), pa.int64()),
    "int8": column(pa.int8(), lambda i: i % 256 - 128),
    "int16": column(pa.int16(), lambda i: -i),
    "int32": column(pa.int32(), lambda i: -i * 400_000),
    "int64": column(pa.int64(), lambda i: -i * 10**15),
    "uint8": column(pa.uint8(), lambda i: i % 256),
    "uint16": column(pa.uint16(), lambda i: i * 13),
    "uint32": column(pa.uint32(), lambda i: 2**32 - 1 - i),
    "uint64": column(pa.uint64(), lambda i: 2**64 - 1 - i),
    "float32": column(pa.float32(), lambda i: i / 8),
    "float64": column(pa.float64(), lambda i: i / 10),
    "bool": column(pa.bool_(), lambda i: i % 3 == 0),
    "text": column(pa.string(), text),
    "large_text": column(pa.large_string(), text),
    "dictionary": column(pa.string(), text).dictionary_encode(),
    "binary": column(pa.binary(), lambda i: bytes([i % 256, 0])),
    "date": column(pa.date32(), lambda i: epoch.date() + datetime.timedelta(days=7 * i - 10000)),
    "timestamp": column(pa.timestamp("us"), lambda i: epoch + datetime.timedelta(microseconds=i * 10**9 + 1)),
    "decimal4": column(pa.decimal128(9, 2), of_digits(2, lambda i: i - 2500)),
    "decimal15": column(pa.decimal128(15, 2), of_digits(2, lambda i: (i - 2500) * 10**10 + 1)),
    "decimal18": column(pa.decimal128(18, 0), of_digits(0, lambda i: -i * 10**14)),
    "decimal38": column(pa.decimal128(38, 10), of_digits(10, lambda i: (i - 2500) * 10**34 + 1)),
})

os.mkdir("codecs")
pair = {"row": pa.array(range(rows), pa.int64()), "text": pa.array(map(text, range(rows)))}
for codec in "none", "snappy", "gzip", "brotli", "zstd", "lz4":
    write(f"codecs/{codec}.parquet", pair, compression=codec)
write("codecs/v2.parquet", pair, data_page_version="2.0", use_dictionary=False,
      column_encoding={"row": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"})

write("sorted.parquet", {"number": pa.array(range(60_000, 0, -1), pa.int64())}, row_group_size=60_000)
write("parts.parquet", {"number": pa.array(range(rows), pa.int64())}, row_group_size=100, use_dictionary=False)
write("lists.parquet", {"list": pa.array([[1, 2], [3]]), "struct": pa.array([{"a": 1, "b": "x"}, None])})
os.mkdir("units")
for unit in "ms", "us":
    write(f"units/{unit}.parquet", {"when": pa.array([1], pa.timestamp(unit))})
