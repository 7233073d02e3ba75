// What ops of a shard have in common that work on a list of variables: attr variables, string[n]. For
// this folder only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dataflow/graph/op_attrs.h"

namespace actorflow {

AttrDef variables_attr();
// Fails the inference unless attr variables names one variable or more; returns how many.
std::int64_t expect_names(const InferContext& c);
OpDef shard_op(std::string_view name, int min_inputs, int max_inputs, std::vector<AttrDef> attrs,
               void (*infer)(InferContext&));

}  // namespace actorflow
