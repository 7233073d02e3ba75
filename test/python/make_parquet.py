"""Writes Parquet files as others make them: make_parquet.py FOLDER. test/jobs/parquet.cpp reads them.

types.parquet   a column of each type, whose values follow from the row's number; every seventh row is null, but
                in `row`
codecs/         the same rows of two columns, each file by another codec
sorted.parquet  numbers that fall, in one row group
parts.parquet   numbers in row groups of 100
lists.parquet   a list, and a struct
units/          the same time in two units
dates/          a date, and a time
twins.parquet   two columns of one name
wide.parquet    a decimal of 38 digits in 20 bytes
short.parquet   a page that announces more rows than it has values
vast.parquet    a page that announces 600 MB
encrypted/      with a footer that is encrypted, and with one that is not
"""

import base64
import datetime
import decimal
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

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
os.mkdir("dates")
for kind in pa.date32(), pa.timestamp("us"):
    write(f"dates/{str(kind)[:4]}.parquet", {"when": pa.array([1], kind)})
pq.write_table(pa.Table.from_arrays([pa.array([1, 2]), pa.array([10, 20])], ["x", "x"]), "twins.parquet")


def varint(number):
    some = []
    while number >= 128:
        some.append(number & 127 | 128)
        number >>= 7
    return bytes([*some, number])


def thrift(number):
    """As Thrift's compact protocol has an integer that is not negative."""
    return varint(2 * number)


def replace(path, old, new, count):
    """In a file that has so many of them."""
    with open(path, "rb") as file:
        content = file.read()
    assert content.count(old) == count, (path, content.count(old))
    with open(path, "wb") as file:
        file.write(content.replace(old, new))


digits = of_digits(10, lambda i: (i - 2) * 10**34 + 1)
write("wide.parquet", {"decimal": pa.array(map(digits, range(5)), pa.decimal256(47, 10))}, store_schema=False)
scale = b"\x15" + thrift(10) + b"\x15"
replace("wide.parquet", scale + thrift(47), scale + thrift(38), 2)

write("short.parquet", {"text": pa.array(map(str, range(1000, 3000)))}, compression="none", use_dictionary=False,
      column_encoding={"text": "DELTA_LENGTH_BYTE_ARRAY"}, row_group_size=2000, data_page_size=1000,
      write_batch_size=1000, write_statistics=False, write_page_checksum=False)
# The lengths of the texts lie in blocks of 128, which have 4 parts each.
lengths = varint(128) + varint(4)
replace("short.parquet", lengths + varint(1000), lengths + varint(200), 2)

# A page for each row: of the second, the end is cut off by what the first's header has more.
write("vast.parquet", {"text": pa.array(["x" * 100_000] * 2)}, compression="zstd", use_dictionary=False,
      write_statistics=False, write_batch_size=1)
page = b"PAR1\x15\0\x15"
replace("vast.parquet", page + thrift(100_010), page + thrift(600_000_000), 1)


class Keys(pe.KmsClient):
    """Which hides nothing."""

    def __init__(self, config):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key, name):
        return base64.b64encode(key)

    def unwrap_key(self, key, name):
        return base64.b64decode(key)


os.mkdir("encrypted")
for footer in "secret", "plain":
    options = pe.EncryptionConfiguration("footer", column_keys={"column": ["a"]}, plaintext_footer=footer == "plain")
    keys = pe.CryptoFactory(Keys).file_encryption_properties(pe.KmsConnectionConfig(), options)
    write(f"encrypted/{footer}.parquet", {"a": pa.array([1]), "b": pa.array([2])}, encryption_properties=keys)
