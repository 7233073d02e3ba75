// The shape functions of the collective operations (collective_ops.h). For the sources of this folder
// only. Each fails, through InferContext::fail, for ranks, a reduction or inputs that the operation
// refuses.
#pragma once

#include "dataflow/graph/op.h"

namespace actorflow {

void infer_all_reduce(InferContext& c);
void infer_broadcast(InferContext& c);
void infer_all_gather(InferContext& c);
void infer_reduce_scatter(InferContext& c);
void infer_grouped_reduce_scatter(InferContext& c);
void infer_barrier(InferContext& c);
void infer_waits(InferContext& c);
void infer_join(InferContext& c);
void infer_all_to_all(InferContext& c);

}  // namespace actorflow
