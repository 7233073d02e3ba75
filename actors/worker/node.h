// The work of a graph node that has a kernel.
#pragma once

#include <vector>

#include "actors/core/executable.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// REQUIRES: the node has a kernel. Computes it on the given inputs, moving them to its device first. The
// inputs are gone afterwards. An error is a status that names the node. Measures what it costs now and
// then.
Status compute_node(const Executable& executable, NodeId id, std::span<Tensor> inputs,
                    std::vector<Tensor>& outputs);

// A node whose lane has more to do than one thread can: it computes what is sent to it and reports to
// the lane. Kernels are pure, so the actor needs no state but its mailbox.
caf::behavior costly_node_actor(PieceActor* self);

}  // namespace actorflow
