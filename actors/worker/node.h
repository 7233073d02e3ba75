// The work of a graph node that has a kernel.
#pragma once

#include <vector>

#include "actors/core/executable.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// Computes a node on the given inputs, after moving them to its device, and releases the inputs. An
// error is a status that names the node. Measures the node's time now and then. REQUIRES: the node has a
// kernel.
Status compute_node(const Executable& executable, NodeId id, StepId step, std::span<Tensor> inputs,
                    std::vector<Tensor>& outputs);

// The actor of a costly node, to which a lane with other work sends it: it computes and reports to the
// lane. Kernels are pure, so the actor needs no state but its mailbox.
caf::behavior costly_node_actor(PieceActor* self);

}  // namespace actorflow
