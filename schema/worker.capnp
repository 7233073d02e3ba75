@0xaaff9e965e1e8d03;
# What tasks say to each other. A connection carries messages one way, from the task that opened it; the
# answers come on the connection that the other task opens. The values are those of schema/message.h.
#
# The control plane: once `connect` has returned, the caller writes its small messages between the calls of the
# RPC, as a Delivery in Cap'n Proto's framing with the highest bit of the first 4 bytes (little-endian: the
# number of segments - 1) set. Nothing answers it. Several messages that wait make one Delivery.
#
# The bulk plane: large messages go through a second connection, which the caller opens to the same port when
# it has the first one to send, or to `localSocket` on the same machine. There it writes 8 bytes "AFLOWBLK" -
# on the local socket with a memfd - and the token of `connect`, and gets 8 zero bytes back. Then it writes,
# for each message, a BulkFrame in Cap'n Proto's framing and the payloads behind it. The other side writes the
# number of a payload, 8 bytes, little-endian, when it no longer needs it.

# The worker service of distributed TensorFlow, and where it is here:
#
#   GetStatus                     Task.status: who is here, which incarnation, how many connections
#   CreateWorkerSession, Delete   the connection itself: a worker keeps graphs and steps for the task, and
#                                 the incarnation of it, that `connect` named, and forgets them when its
#                                 connection breaks
#   RegisterGraph, DeregisterGraph  registerGraph, answered by graphRegistered with a random handle; a request
#                                 that comes twice gets the same handle. deregisterGraph
#   RunGraph                      runGraph, answered by stepDone. A step runs once: what comes again with its
#                                 number is dropped. An unknown handle: aborted, the task has restarted
#   CleanupGraph                  abortStep: whoever waits in the step gets the reason, and what comes later
#                                 for it is dropped or refused. A step that ends leaves nothing behind
#   CleanupAll                    Master's reset, for a container
#   RecvTensor                    tensorDelivery: the sender pushes, before or after the runGraph of the
#                                 receiver; first in, first out per step and channel
#   StepDone of a failed part     names the node; the master adds the task
#
# A task has one incarnation per start, told in `connect`. Handles and steps are random 64-bit numbers, the
# two top bits of a step are clear. `epoch` is the fencing epoch of the session that runs the step.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using T = import "tensor.capnp";
using Graph = import "graph.capnp".Graph;
using Status = import "cluster.capnp".Status;
using TaskName = import "cluster.capnp".TaskName;
using TaskIdentity = import "cluster.capnp".TaskIdentity;
using Device = import "cluster.capnp".Device;
using NodeTrace = import "master.capnp".NodeTrace;
using Master = import "master.capnp".Master;

const protocolVersion :UInt32 = 11;
# Raised by every change that an older task would misunderstand.

interface Task {
  # The bootstrap interface of a port. Until `connect` or `master` has succeeded, a connection may send
  # 16 KiB and has a few seconds; after that a message may have 64 MiB.
  connect @0 (protocolVersion :UInt32, self :TaskIdentity, expected :TaskName)
      -> (status :Status, self :TaskIdentity, inbox :Inbox, bulk :BulkLane);
  # Opens the way for messages. failed_precondition, naming both, if the version is another or the task
  # here is not the expected one; aborted if a newer incarnation of `self` has been here: the caller has been
  # replaced. Once per connection; a new one ends those that the same task has opened before.

  master @1 (protocolVersion :UInt32) -> (status :Status, master :Master);
  status @2 () -> (self :TaskIdentity, protocolVersion :UInt32, connections :UInt32);
}

interface Inbox {
  done @0 (afterBulk :UInt64) -> ();
  # Returns when everything that was delivered before, and so many messages of the bulk plane, have been
  # taken.
}

struct Delivery {
  envelopes @0 :List(Envelope);
  # Handled in order. One that is not understood closes the connection.
}

struct BulkLane {
  token @0 :Data;
  # 16 random bytes that open the bulk plane of this connection.
  localSocket @1 :Text;
  # An abstract Unix socket for callers on the same machine; empty if there is none.
  windowBytes @2 :UInt64;
  # How many bytes of payloads the receiver wants to hold at a time.
  maxBytes @3 :UInt64;
  # More than that closes the connection; a message that is larger by itself is sent as `undelivered`.
}

struct BulkFrame {
  # A message of the bulk plane; its tensors refer to the payloads as transfers.
  envelope @0 :Envelope;
  payloads @1 :List(Payload);

  struct Payload {
    number @0 :UInt64;
    # Used once per connection, never 0.
    sizeBytes @1 :UInt64;
    union {
      inline @2 :Void;
      # Behind the frame, after the payloads before this one.
      place @3 :UInt64;
      # An offset in the memfd; a multiple of 64.
    }
  }
}

struct Slot {
  # An argument or result of a partition.
  index @0 :Int32;
  tensor @1 :T.Tensor;
}

struct Envelope {
  afterBulk @22 :UInt64;
  # Is handled only when so many messages of the bulk plane have been.
  union {
    registerGraph :group {
      request @0 :UInt64;
      graph @1 :Graph;
      cudaGraphs @35 :Bool;
      nodeActors @40 :Bool;
      # An actor per node instead of one per step; the results are the same.
    }
    graphRegistered :group {
      request @2 :UInt64;
      status @3 :Status;
      handle @4 :UInt64;
    }
    deregisterGraph @5 :UInt64;
    # The handle.
    runGraph :group {
      handle @6 :UInt64;
      step @7 :UInt64;
      args @8 :List(Slot);
      epoch @23 :Int64;
      trace @25 :Bool;
      next @48 :NextStep;
    }
    stepDone :group {
      step @9 :UInt64;
      status @10 :Status;
      retvals @11 :List(Slot);
      trace @26 :TaskTrace;
      # Only of a step that is traced.
    }
    abortStep :group {
      step @12 :UInt64;
      reason @13 :Status;
    }
    tensorDelivery :group {
      step @14 :UInt64;
      channel @15 :UInt32;
      tensor @16 :T.Tensor;
    }
    gradientApplied :group {
      coordinator @17 :Text;
      accumulator @18 :Text;
      globalStep @19 :Int64;
      epoch @24 :Int64;
    }
    replicaDone @20 :Void;
    shutdown @21 :Text;
    # The reason.
    jobFailed @39 :Status;
    # A shutdown, too.
    getStatus @27 :UInt64;
    # A number that the answer repeats.
    taskStatus :group {
      request @28 :UInt64;
      devices @29 :List(Device);
    }
    clearContainers :group {
      request @30 :UInt64;
      containers @31 :List(Text);
      session @32 :Text;
      # Also clears those of this isolated session, unless it is empty.
    }
    containersCleared @33 :UInt64;
    # The request.
    heartbeat @34 :Void;
    # The sender is alive. A task that has a connection to another says so every second, and one that hears it
    # opens a connection of its own to say the same. A task of which nothing is heard for 5 s is lost. Both
    # times are the tasks' to choose.
    undelivered :group {
      # In the place of a message that is over the receiver's limits. Whoever waits for it gets the reason.
      what @36 :Undeliverable;
      number @37 :UInt64;
      # Of registerGraph the request, else the step.
      reason @38 :Status;
    }
    actorMessage :group {
      # To an actor of the task, by its name. One that is over the receiver's limits comes without tensors.
      to @41 :Text;
      from @42 :Text;
      type @43 :Text;
      request @44 :UInt64;
      content @45 :T.Tensor;
      payload @46 :T.Tensor;
      status @47 :Status;
    }
  }
}

enum NextStep {
  # What a task does about the step whose number is one higher.
  unknown @0;
  announced @1;
  # Keeps the tensors that come for it.
  begun @2;
  # Begins it by itself when it has ended this one without an error, and so on until one is aborted.
}

enum Undeliverable {
  registerGraph @0;
  runGraph @1;
  tensorDelivery @2;
}

struct TaskTrace {
  startUs @0 :Int64;
  endUs @1 :Int64;
  # Of the part of the step that ran here. All times are by this task's steady clock.
  nodes @2 :List(NodeTrace);
}
