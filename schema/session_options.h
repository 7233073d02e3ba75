// The options of a session, and descriptions of its devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace actorflow {

// The actors that run the nodes of a partition. Both choices compute the same bits.
enum class Executor : std::uint8_t {
  lanes,        // an actor per step, which calls the kernels of the nodes
  node_actors,  // an actor per node, and a message per edge
};

// The options of a session.
struct SessionOptions {
  // Full or partial names of devices. Only tasks that match one of them, and the task on which the
  // session is opened, are used and contacted. Empty: all tasks.
  std::vector<std::string> device_filters = {};
  // Gives the session variables of its own, which no other session sees and which are removed when it is
  // closed.
  bool isolate = false;
  // Gives a CPU of its task to a node that asks for a device that the task lacks or its op cannot run
  // on, as TensorFlow 2 does. Otherwise that is an error.
  bool allow_soft_placement = true;
  // The timeout of steps without one of their own; 0 = none.
  std::int64_t step_timeout_ms = 0;
  // Launches parts of a step that a GPU can compute without the host as CUDA graphs, with the same bits.
  // Such a part starts when all its inputs are there and gives its results together; it is captured when
  // its inputs come with the same shapes for the third time. Nodes are launched one by one until then,
  // where a capture fails or would take too much of the GPU's memory, in parts of few nodes, in
  // programs' own ops, and on tasks that exchange tensors with other tasks in the midst of a step.
  // False: always.
  bool cuda_graphs = true;
  // node_actors makes every node an actor and every edge a message, so that simulated schedules can
  // explore the order of nodes. Far slower, with the same bits, and without CUDA graphs.
  Executor executor = Executor::lanes;
  // A folder with ca.crt, client.crt and client.key, for a target in another process that requires them;
  // they are not sent to the master. Empty: a plain connection.
  std::string credentials = {};
};

// A device that a session can use.
struct DeviceInfo {
  std::string name;               // full
  std::string type;               // "CPU", "GPU"
  std::int64_t memory_bytes = 0;  // 0 if that is not known
  std::uint64_t incarnation = 0;  // of its task

  bool operator==(const DeviceInfo&) const = default;
};

}  // namespace actorflow
