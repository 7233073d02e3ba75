@0x9a2024f609e016dd;
# What clients say to a master. Get one from `Task.master` in worker.capnp, the bootstrap interface of
# every task's port. Every call returns a status: an RPC exception means that the connection is broken or
# that what was sent is no valid message.
#
# Any language with Cap'n Proto can be a client, for example with pycapnp 2:
#   stream = await capnp.AsyncIoStream.create_connection(host="127.0.0.1", port="2222")
#   task = capnp.TwoPartyClient(stream).bootstrap().cast_as(worker_capnp.Task)
#   master = (await task.master(protocolVersion=worker_capnp.protocolVersion)).master
#   session = (await master.createSession(graph=graph)).session
# A message has at most 64 MiB. Larger tensors go through TensorSink: `put` them to the master before the
# call whose tensors refer to them, and pass a sink of your own to `runStep` for large results.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using T = import "tensor.capnp";
using Graph = import "graph.capnp".Graph;
using Status = import "cluster.capnp".Status;

interface Master extends(T.TensorSink) {
  createSession @0 (graph :Graph) -> (status :Status, session :Text);
  # invalid_argument with every mistake of the graph if there is one.

  runStep @1 (session :Text, feeds :List(Feed), fetches :List(Text), targets :List(Text),
              timeoutMs :Int64, sink :T.TensorSink, epoch :Int64)
      -> (status :Status, fetches :List(T.Tensor));
  # Runs what the fetches (tensors, "x" or "x:0") and targets (nodes) need, once; returns the fetches in
  # the order of the request. timeoutMs 0 = no limit. Without a sink the fetches may have 48 MiB in all.
  # A step of an older epoch than a task's changes nothing there: aborted, "fenced".

  closeSession @2 (session :Text) -> (status :Status);
  listDevices @3 () -> (status :Status, devices :List(Text));

  struct Feed {
    name @0 :Text;
    value @1 :T.Tensor;
  }
}
