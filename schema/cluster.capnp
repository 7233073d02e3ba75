@0xa8aadafca19864aa;
# Who is who in a cluster, and how things went.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::wire");

struct TaskName {
  job @0 :Text;
  index @1 :Int32;
}

struct TaskIdentity {
  name @0 :TaskName;
  incarnation @1 :UInt64;
  # Random per start of the task, so that a restarted one is told apart.
}

struct Device {
  name @0 :Text;
  # Full: "/job:worker/replica:0/task:1/device:GPU:0".
  type @1 :Text;
  # "CPU", "GPU".
  memoryBytes @2 :Int64;
  # 0 if that is not known.
  incarnation @3 :UInt64;
  # Of its task.
}

struct Status {
  code @0 :UInt8;
  # 0 is success, the others are gRPC's canonical codes (dataflow/values/error.h).
  message @1 :Text;
}
