// What a client asks of a session, and hears of its devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace actorflow {

// Who runs the nodes of a partition. Both compute the same bits.
enum class Executor : std::uint8_t {
  lanes,        // an actor per step, which calls the kernels of the nodes
  node_actors,  // an actor per node, and a message per edge
};

// How a session runs its steps.
struct SessionOptions {
  // Full or partial names of devices. Tasks that none of them matches are neither used nor contacted; the
  // task that the session is opened on always takes part. Empty: every task does.
  std::vector<std::string> device_filters = {};
  // Variables of its own, which no other session sees and which go when it is closed.
  bool isolate = false;
  // A node that asks for a device that its task has not, or that its op cannot run on, gets a CPU of that
  // task, as TensorFlow 2 does. Otherwise that is an error.
  bool allow_soft_placement = true;
  // Of steps that have no timeout of their own; 0 = none.
  std::int64_t step_timeout_ms = 0;
  // What a GPU can compute without the host in between, it is given at once: as CUDA graphs. For steps of many
  // small kernels. Such a part starts when all of its inputs are there and gives its results together.
  bool cuda_graphs = false;
  // With node_actors every node is an actor and every edge a message, also where one activation could do
  // all: to see how steps run, and for schedules to explore. Far slower; same results, bit by bit. Not
  // together with cuda_graphs.
  Executor executor = Executor::lanes;
  // A folder with ca.crt, client.crt and client.key, for a target in another process that asks for them;
  // the master hears nothing of it. Empty: a plain connection.
  std::string credentials = {};
};

// A device that a session can use.
struct DeviceInfo {
  std::string name;  // full
  std::string type;  // "CPU", "GPU"
  std::int64_t memory_bytes = 0;  // 0 if that is not known
  std::uint64_t incarnation = 0;  // of its task

  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace actorflow
