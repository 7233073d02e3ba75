@0x9a2024f609e016dd;
# What clients say to a master. Get one from `Task.master` in worker.capnp, the bootstrap interface of
# every task's port. Every call returns a status: an RPC exception means that the connection is broken or
# that what was sent is no valid message.
#
# Any language with Cap'n Proto can be a client, for example with pycapnp 2:
#   stream = await capnp.AsyncIoStream.create_connection(host="127.0.0.1", port=2222)
#   task = capnp.TwoPartyClient(stream).bootstrap().cast_as(worker_capnp.Task)
#   master = (await task.master(protocolVersion=worker_capnp.protocolVersion)).master
#   session = (await master.createSession(graph=graph)).session
# test/python/master_client.py is a complete one.
#
# A message has at most 64 MiB. Larger tensors go through TensorSink: `put` them to the master before the
# call whose tensors refer to them, and pass a sink of your own to `runStep` for large results. What is over
# the server's limit, or finds no memory there, fails the call that refers to it: resource_exhausted (8).
#
# Errors (Status.code, numbered as in gRPC): a handle that the master does not know, because the session was
# closed or reset or its task restarted, is aborted (10); what is wrong with a graph, a name or a value is
# invalid_argument (3) or not_found (5); steps of a session that is closed meanwhile are cancelled (1); a
# step that takes longer than its timeout is deadline_exceeded (4); a task that is lost is unavailable (14).

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using T = import "tensor.capnp";
using Graph = import "graph.capnp".Graph;
using Status = import "cluster.capnp".Status;
using Device = import "cluster.capnp".Device;

interface Master extends(T.TensorSink) {
  createSession @0 (graph :Graph, options :SessionOptions)
      -> (status :Status, session :Text, graphVersion :Int64);
  # invalid_argument with every mistake of the graph if there is one. A session lives until it is closed or
  # reset, its task ends, or the connection on which it was made breaks.

  runStep @1 (session :Text, feeds :List(Feed), fetches :List(Text), targets :List(Text),
              timeoutMs :Int64, sink :T.TensorSink, epoch :Int64, trace :Bool)
      -> (status :Status, fetches :List(T.Tensor), trace :List(NodeTrace));
  # Runs what the fetches (tensors, "x" or "x:0") and targets (nodes) need, once; returns the fetches in
  # the order of the request. timeoutMs 0 = the session's. Without a sink the fetches may have 48 MiB in
  # all. A step of an older epoch than a task's changes nothing there: aborted, "fenced". `trace` asks for
  # a record of every node that ran, on all tasks.

  closeSession @2 (session :Text) -> (status :Status);
  # Its steps end as cancelled. Variables stay on their tasks, but for those of an isolated session.

  listDevices @3 (session :Text) -> (status :Status, devices :List(Device));
  # Those that the session's filters allow; without a session those of the whole cluster. Asks the tasks,
  # so it waits for each that has not been reached yet, up to the server's connect timeout.

  extendSession @4 (session :Text, nodes :Graph, currentVersion :Int64)
      -> (status :Status, graphVersion :Int64);
  # Appends nodes. Their inputs and controls are positions in the whole graph: the first new node comes
  # after the last one that the session has. currentVersion is what createSession or the last extendSession
  # has returned; aborted if another extension came first, so of several at once exactly one succeeds.
  # invalid_argument, and the graph is as it was, for any mistake, such as a name that is taken.

  makeCallable @5 (session :Text, feeds :List(Text), fetches :List(Text), targets :List(Text))
      -> (status :Status, callable :UInt64);
  # Plans a kind of step now, to be run many times: names are looked up once. Belongs to the session.
  runCallable @6 (session :Text, callable :UInt64, feeds :List(T.Tensor), timeoutMs :Int64,
                  sink :T.TensorSink, epoch :Int64, trace :Bool)
      -> (status :Status, fetches :List(T.Tensor), trace :List(NodeTrace));
  # As runStep, the feeds in the order of makeCallable.
  releaseCallable @7 (session :Text, callable :UInt64) -> (status :Status);

  placement @8 (session :Text) -> (status :Status, devices :List(Text));
  # The device of each node of the session's graph, in order.

  reset @9 (containers :List(Text), deviceFilters :List(Text)) -> (status :Status);
  # Closes every session of this task, then clears these containers' variables ("" is the default
  # container) on every task that the filters allow; without containers no variable goes.

  struct Feed {
    name @0 :Text;
    value @1 :T.Tensor;
  }
}

struct SessionOptions {
  deviceFilters @0 :List(Text);
  # Full or partial device names, as "/job:ps". Tasks that none of them matches are neither used nor
  # contacted; the master's own takes part always. Empty: every task does.
  isolate @1 :Bool;
  # Variables of its own, which no other session sees and which go when it is closed.
  requireDevices @2 :Bool;
  # A node that asks for a device that its task has not, or that its op cannot run on, is an error instead
  # of running on a CPU of that task (no soft placement).
  stepTimeoutMs @3 :Int64;
  # Of steps that have no timeout of their own; 0 = none.
  cudaGraphs @4 :Bool;
  # Not read any more: CUDA graphs are the default.
  nodeActors @5 :Bool;
  # Every node is an actor and every edge a message.
  plainLaunches @6 :Bool;
  # Each node on a GPU is launched by itself: nothing is captured into CUDA graphs.
}

struct NodeTrace {
  # A node that has run. In the results of a step times are since the step began, and the clocks of the
  # tasks are aligned as well as the step's messages allow.
  node @0 :Text;
  op @1 :Text;
  device @2 :Text;
  startUs @3 :Int64;
  endUs @4 :Int64;
  bytesOut @5 :Int64;
  # Of all outputs; of a Send: what it sent.
  peer @6 :Text;
  # Send and Recv: the task at the other end, and
  channel @7 :Int64 = -1;
  # a number that both ends have.
}
