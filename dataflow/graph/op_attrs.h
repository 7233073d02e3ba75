// What the ops of this folder have in common: how they declare attributes and check what they are given.
// For their definitions only.
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
// Named state is found by its name: it must have one.
void expect_variable(const InferContext& c);

// The one output is of the type that the attributes dtype and shape name.
void infer_declared(InferContext& c);
// The one output is of the type of the first input.
void infer_same(InferContext& c);

}  // namespace actorflow
