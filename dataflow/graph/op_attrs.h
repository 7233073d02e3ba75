// Helpers for the definitions of ops: declaring attributes and checking inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/graph/op.h"

namespace actorflow {

AttrDef required(std::string_view name, AttrValue example);
AttrDef required_int(std::string_view name);
AttrDef required_text(std::string_view name);
AttrDef required_state(std::string_view name);  // the name of a variable or queue
std::vector<AttrDef> operator+(std::vector<AttrDef> a, const std::vector<AttrDef>& b);

std::vector<AttrDef> type_attrs();      // dtype, shape
std::vector<AttrDef> variable_attrs();  // variable: the name of the state that an op is about

// Each throws through InferContext::fail.
void expect_number(const InferContext& c, int input);
void expect_scalar(const InferContext& c, int input, DType dtype);
// Throws unless the attribute `variable` has a name: state is found by it.
void expect_variable(const InferContext& c);

// Shape function: one output of the type that the attributes dtype and shape name.
void infer_declared(InferContext& c);
// Shape function: one output of the type of the first input.
void infer_same(InferContext& c);

}  // namespace actorflow
