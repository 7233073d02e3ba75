"""Reads an event folder with TensorBoard's own code and compares it with what the test wrote.

read_events.py FOLDER: expected.json in FOLDER says what must be there; of a scalar without a value, its steps.
"""

import json
import math
import struct
import sys
import zlib

from tensorboard.backend.event_processing.event_accumulator import (
    COMPRESSED_HISTOGRAMS, EventAccumulator, HISTOGRAMS, IMAGES, SCALARS)

folder = sys.argv[1]
with open(folder + "/expected.json") as file:
    expected = json.load(file)

events = EventAccumulator(folder, size_guidance={SCALARS: 0, HISTOGRAMS: 0, IMAGES: 0, COMPRESSED_HISTOGRAMS: 0})
events.Reload()


def check(condition, what):
    if not condition:
        sys.exit(f"not as expected: {what}")


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def png_pixels(png):
    """The bytes of a PNG's pixels: 8 bits a channel, not interlaced, filters undone."""
    check(png[:8] == b"\x89PNG\r\n\x1a\n", "a PNG file")
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            check(depth == 8, "8 bits a channel")
            channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
        if kind == b"IDAT":
            data += body
        at += 12 + size
    raw, row_bytes, pixels = zlib.decompress(data), width * channels, bytearray()
    above = bytearray(row_bytes)
    for y in range(height):
        kind, line = raw[y * (row_bytes + 1)], bytearray(raw[y * (row_bytes + 1) + 1:(y + 1) * (row_bytes + 1)])
        for x in range(row_bytes):
            left = line[x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            p = left + above[x] - corner
            paeth = min((abs(p - v), i, v) for i, v in enumerate((left, above[x], corner)))[2]
            line[x] = (line[x] + (0, left, above[x], (left + above[x]) // 2, paeth)[kind]) % 256
        pixels += line
        above = line
    return width, height, list(pixels)


for tag, points in expected["scalars"].items():
    actual = [(e.step, e.wall_time, e.value) for e in events.Scalars(tag)]
    check(len(actual) == len(points), f"{len(points)} points of {tag}, got {len(actual)}")
    for (step, time, value), point in zip(actual, points):
        check(step == point["step"], f"{tag}: step {step} and {point}")
        if "value" in point:
            wanted = struct.unpack("f", struct.pack("f", float(point["value"])))[0]
            check(time == point["time"] and same(value, wanted), f"{tag}: {value} and {point}")

for tag, point in expected["histograms"].items():
    [event] = events.Histograms(tag)
    h = event.histogram_value
    for name in ("min", "max", "num", "sum", "sum_squares"):
        check(getattr(h, name) == point[name], f"{tag}: {name} {getattr(h, name)} and {point[name]}")
    check(sum(h.bucket) == point["num"], f"{tag}: buckets hold {sum(h.bucket)}")
    check(h.bucket_limit == sorted(h.bucket_limit), f"{tag}: limits ascend")
    for value in point["values"]:
        place = next(i for i, limit in enumerate(h.bucket_limit) if value < limit)
        check(h.bucket[place] >= point["values"].count(value), f"{tag}: {value} has a bucket")
    if point["num"] > 0:
        events.CompressedHistograms(tag)

for tag, steps in expected.get("histogram_steps", {}).items():
    actual = [event.step for event in events.Histograms(tag)]
    check(actual == steps, f"{tag}: steps {actual}, expected {steps}")

for tag, image in expected["images"].items():
    [event] = events.Images(tag)
    width, height, pixels = png_pixels(event.encoded_image_string)
    check((event.width, event.height) == (width, height) == (image["width"], image["height"]), f"{tag}: its size")
    check(pixels == image["pixels"], f"{tag}: pixels {pixels} and {image['pixels']}")

graph = {node.name: node for node in events.Graph().node} if expected["graph"] else {}
check(len(graph) == len(expected["graph"]), f"{len(expected['graph'])} nodes, got {len(graph)}")
for name, node in expected["graph"].items():
    check(graph[name].op == node["op"], f"{name}: {graph[name].op}")
    check(list(graph[name].input) == node["inputs"], f"{name}: {graph[name].input}")
    check(graph[name].device == node["device"], f"{name}: {graph[name].device}")
check(set(events.Tags()["scalars"]) == set(expected["scalars"]), f"tags {events.Tags()}")
print("TensorBoard reads", sum(map(len, expected["scalars"].values())), "scalars,", len(expected["histograms"]),
      "histograms,", len(expected["images"]), "images and a graph of", len(graph), "nodes")
