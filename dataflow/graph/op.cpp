#include "dataflow/graph/op.h"

#include <array>

#include "dataflow/graph/graph.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

std::string prefix(const Node& node) {
  return "node '" + node.name + "' (" + std::string(node.op->name) + "): ";
}

}  // namespace

std::string TensorType::to_string() const {
  return std::string(actorflow::to_string(dtype)) + shape.to_string();
}

std::string_view kind_of(const AttrValue& value) {
  static constexpr std::array<std::string_view, 10> kinds = {
      "bool",  "int64",  "float64",       "string",          "dtype",
      "shape", "tensor", "list of int64", "list of float64", "subgraph"};
  static_assert(kinds.size() == std::variant_size_v<AttrValue>);
  return kinds[value.index()];
}

void InferContext::expect_dtype(int i, DType dtype) const {
  if (input(i).dtype != dtype)
    fail("input " + std::to_string(i) + " of " + std::string(to_string(dtype)), input(i).to_string());
}

void InferContext::expect_same_dtype() const {
  for (int i = 1; i < inputs(); ++i)
    if (input(i).dtype != input(0).dtype)
      fail("inputs of one dtype", input(0).to_string() + " and " + input(i).to_string());
}

void InferContext::expect_rank(int i, int rank) const {
  if (input(i).shape.has_rank() && input(i).shape.rank() != rank)
    fail("input " + std::to_string(i) + " of rank " + std::to_string(rank), input(i).to_string());
}

void InferContext::fail(const std::string& expected, const std::string& actual) const {
  throw invalid_argument(prefix(node_) + "expected " + expected + ", got " + actual);
}

OpRegistry::OpRegistry(std::span<const OpDef* const> ops) {
  for (const OpDef* op : ops)
    if (!ops_.emplace(op->name, op).second)
      throw Error(Code::already_exists, "two ops are named '" + std::string(op->name) + "'");
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : found->second;
}

const OpDef& OpRegistry::at(std::string_view name) const {
  if (const OpDef* op = find(name)) return *op;
  std::vector<std::string_view> known;
  for (const auto& entry : ops_) known.push_back(entry.first);
  throw Error(Code::not_found, "unknown op '" + std::string(name) + "'" + did_you_mean(name, known));
}

const AttrValue& find_attr(const Node& node, std::string_view name) {
  const auto found = node.attrs.find(name);
  if (found == node.attrs.end())
    throw invalid_argument(prefix(node) + "attribute '" + std::string(name) + "' is missing");
  return found->second;
}

void wrong_attr_kind(const Node& node, std::string_view name, const AttrValue& actual) {
  throw invalid_argument(prefix(node) + "attribute '" + std::string(name) + "' has the wrong kind " +
                         std::string(kind_of(actual)));
}

}  // namespace actorflow
