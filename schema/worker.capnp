@0xaaff9e965e1e8d03;
# What tasks say to each other. A connection carries messages one way, from the task that opened it; the
# answers come on the connection that the other task opens. The values are those of schema/message.h.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");
using T = import "tensor.capnp";
using Graph = import "graph.capnp".Graph;
using Status = import "cluster.capnp".Status;
using TaskName = import "cluster.capnp".TaskName;
using TaskIdentity = import "cluster.capnp".TaskIdentity;
using Master = import "master.capnp".Master;

const protocolVersion :UInt32 = 1;
# Raised by every change that an older task would misunderstand.

interface Task {
  # The bootstrap interface of a port. Until `connect` or `master` has succeeded, a connection may send
  # 16 KiB and has a few seconds; after that a message may have 64 MiB.
  connect @0 (protocolVersion :UInt32, self :TaskIdentity, expected :TaskName)
      -> (status :Status, self :TaskIdentity, inbox :Inbox);
  # Opens the way for messages. failed_precondition, naming both, if the version is another or the task
  # here is not the expected one. Once per connection.

  master @1 (protocolVersion :UInt32) -> (status :Status, master :Master);
  status @2 () -> (self :TaskIdentity, protocolVersion :UInt32, connections :UInt32);
}

interface Inbox extends(T.TensorSink) {
  deliver @0 (envelopes :List(Envelope)) -> stream;
  # In order. An envelope that is not understood closes the connection.
}

struct Slot {
  # An argument or result of a partition.
  index @0 :Int32;
  tensor @1 :T.Tensor;
}

struct Envelope {
  union {
    registerGraph :group {
      request @0 :UInt64;
      graph @1 :Graph;
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
    }
    stepDone :group {
      step @9 :UInt64;
      status @10 :Status;
      retvals @11 :List(Slot);
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
    }
    replicaDone @20 :Void;
    shutdown @21 :Text;
    # The reason.
  }
}
