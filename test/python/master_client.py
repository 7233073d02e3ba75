"""A client of a master in another language, with nothing of Actorflow but the files in schema/.

usage: master_client.py ACTORFLOW SCHEMA_FOLDER

Starts a real server, opens sessions on it and checks what comes back.
"""

import asyncio
import json
import re
import struct
import subprocess
import sys

import capnp

OK, INVALID_ARGUMENT, NOT_FOUND, ABORTED = 0, 3, 5, 10


def scalar(value):
    """An int32 tensor of the wire: tensor.capnp."""
    return {"dtype": "int32", "dims": [], "data": struct.pack("<i", value)}


def value_of(tensor):
    assert tensor.dtype == "int32" and len(tensor.dims) == 0, tensor
    return struct.unpack("<i", tensor.data)[0]


def constant(name, value, device=""):
    return {"name": name, "op": "Const", "device": device,
            "attrs": [{"name": "value", "tensor": scalar(value)}]}


def node(name, op, inputs, device=""):
    return {"name": name, "op": op, "device": device,
            "inputs": [{"node": i, "output": 0} for i in inputs]}


def placeholder(name):
    return {"name": name, "op": "Placeholder",
            "attrs": [{"name": "dtype", "dtype": "int32"}, {"name": "shape", "shape": {"dims": []}}]}


# x = 2; y1 = x + 300; y2 = x - 66; y = y1 + y2
EQUATIONS = {"nodes": [constant("x", 2), constant("300", 300), node("y1", "Add", [0, 1]),
                       constant("66", 66), node("y2", "Sub", [0, 3]), node("y", "Add", [2, 4])]}


def check(status, code=OK):
    assert status.code == code, f"expected status {code}, got {status.code}: {status.message}"
    return status.message


async def use(master):
    created = await master.createSession(graph=EQUATIONS)
    check(created.status)
    session = created.session

    result = await master.runStep(session=session, fetches=["y"])
    check(result.status)
    assert value_of(result.fetches[0]) == 238, result

    # Nodes 6 and 7 of the session's graph.
    more = {"nodes": [placeholder("a"), node("z", "Mul", [5, 6])]}
    extended = await master.extendSession(session=session, nodes=more, currentVersion=created.graphVersion)
    check(extended.status)
    again = await master.extendSession(session=session, nodes=more, currentVersion=created.graphVersion)
    check(again.status, ABORTED)
    taken = await master.extendSession(session=session, nodes=more, currentVersion=extended.graphVersion)
    assert "'z'" in check(taken.status, INVALID_ARGUMENT)

    made = await master.makeCallable(session=session, feeds=["a"], fetches=["z", "y:0"])
    check(made.status)
    for factor in (1, 2, -3):
        result = await master.runCallable(session=session, callable=made.callable, feeds=[scalar(factor)],
                                          trace=True)
        check(result.status)
        assert [value_of(t) for t in result.fetches] == [238 * factor, 238], result
        assert "z" in [record.node for record in result.trace], result.trace
    check((await master.releaseCallable(session=session, callable=made.callable)).status)
    released = await master.runCallable(session=session, callable=made.callable, feeds=[scalar(1)])
    check(released.status, NOT_FOUND)

    devices = await master.listDevices(session=session)
    check(devices.status)
    assert devices.devices[0].name == "/job:local/replica:0/task:0/device:CPU:0", devices
    placement = await master.placement(session=session)
    assert len(placement.devices) == 8, placement

    bad = await master.createSession(graph={"nodes": [node("loop", "Identity", [0]), node("what", "Whatever", [])]})
    message = check(bad.status, INVALID_ARGUMENT)
    assert "'loop'" in message and "Whatever" in message, message

    check((await master.closeSession(session=session)).status)
    for handle in (session, "never"):
        unknown = await master.runStep(session=handle, fetches=["y"])
        assert handle in check(unknown.status, ABORTED)
    check((await master.reset(containers=[""])).status)


async def main(port, schema_folder):
    worker = capnp.load(f"{schema_folder}/worker.capnp", imports=IMPORTS)
    stream = await capnp.AsyncIoStream.create_connection(host="127.0.0.1", port=port)
    task = capnp.TwoPartyClient(stream).bootstrap().cast_as(worker.Task)
    opened = await task.master(protocolVersion=worker.protocolVersion)
    check(opened.status)
    await asyncio.wait_for(use(opened.master), timeout=120)


# schema/ imports "/capnp/c++.capnp", which comes with Cap'n Proto.
IMPORTS = ["/usr/include"]

if __name__ == "__main__":
    program, folder = sys.argv[1:]
    cluster = json.dumps({"local": ["127.0.0.1:0"]})  # the system picks a port
    server = subprocess.Popen([program, "server", "--cluster", cluster, "--job", "local", "--task", "0"],
                              stdout=subprocess.PIPE, text=True)
    try:
        listening = re.search(r"is listening on actorflow://127\.0\.0\.1:(\d+)", server.stdout.readline())
        assert listening, "the server has not started"
        asyncio.run(capnp.run(main(int(listening[1]), folder)))
    finally:
        server.terminate()
        server.wait(timeout=60)
