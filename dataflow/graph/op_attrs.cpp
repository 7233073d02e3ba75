#include "dataflow/graph/op_attrs.h"

namespace actorflow {

AttrDef required(std::string_view name, AttrValue example) { return {name, std::move(example), true}; }
AttrDef required_int(std::string_view name) { return required(name, std::int64_t{0}); }
AttrDef required_text(std::string_view name) { return required(name, std::string()); }
AttrDef required_state(std::string_view name) { return {name, std::string(), true, true}; }

std::vector<AttrDef> operator+(std::vector<AttrDef> a, const std::vector<AttrDef>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<AttrDef> type_attrs() {
  return {required("dtype", DType::invalid), required("shape", Shape())};
}
std::vector<AttrDef> variable_attrs() { return {required_state("variable")}; }

void expect_number(const InferContext& c, int input) {
  const DType dtype = c.input(input).dtype;
  const bool is_small = dtype == DType::int8 || dtype == DType::int16;  // which are only moved
  if (is_small || (!is_floating(dtype) && !is_integer(dtype)))
    c.fail("input " + std::to_string(input) + " of a numeric type", c.input(input).to_string());
}

void expect_scalar(const InferContext& c, int input, DType dtype) {
  c.expect_dtype(input, dtype);
  c.expect_rank(input, 0);
}

void expect_variable(const InferContext& c) {
  if (c.attr<std::string>("variable").empty()) c.fail("the name of a variable", "''");
}

void infer_declared(InferContext& c) {
  const DType dtype = c.attr<DType>("dtype");
  if (dtype == DType::invalid) c.fail("a dtype", "'invalid'");
  c.add_output(dtype, c.attr<Shape>("shape"));
}

void infer_same(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }

}  // namespace actorflow
