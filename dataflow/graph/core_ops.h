// The ops that graphs themselves are made of: what the builder and the graph transformations add. Some
// have kernels, in kernels/; actors carry out the others.
#pragma once

#include <span>

#include "dataflow/graph/op.h"

namespace actorflow {

const OpDef& const_op();        // () -> value; attr value: Tensor
const OpDef& placeholder_op();  // () -> fed tensor; attrs dtype, shape
const OpDef& identity_op();     // (x) -> x
const OpDef& no_op();           // () -> ()
const OpDef& add_n_op();        // (x, x, ...) -> sum, all of one type

// The arguments and results of a partition; attr index. Arg also has dtype and shape.
const OpDef& arg_op();     // () -> argument
const OpDef& retval_op();  // (x) -> ()

// The two ends of a transfer between partitions. Attrs: channel (the same number at both ends, unique
// in the partitioned graph) and peer (the task at the other end). Recv also has dtype and shape.
const OpDef& send_op();  // (x) -> ()
const OpDef& recv_op();  // () -> x

std::span<const OpDef* const> core_ops();

}  // namespace actorflow
