#include "dataflow/graph/precision.h"

#include <algorithm>
#include <array>
#include <string>

#include "dataflow/graph/graph.h"

namespace actorflow {
namespace {

constexpr std::string_view attr_name = "precision";
constexpr std::array<std::string_view, 3> names{"float32", "tf32", "bf16"};
constexpr std::string_view known = "float32, tf32 or bf16";

// Null if the name is unknown.
const std::string_view* find(std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : found;
}

}  // namespace

std::string_view to_string(Precision precision) { return names[static_cast<std::size_t>(precision)]; }

Precision parse_precision(std::string_view name) {
  if (const auto* found = find(name)) return static_cast<Precision>(found - names.begin());
  throw invalid_argument("unknown precision '" + std::string(name) + "'; expected " +
                         std::string(known));
}

AttrDef precision_attr() { return {attr_name, std::string(to_string(Precision::float32))}; }

Precision precision_of(const Node& node) {
  if (!node.attrs.contains(attr_name)) return Precision::float32;
  try {
    return parse_precision(attr<std::string>(node, attr_name));
  } catch (const Error& error) {
    throw invalid_argument("node '" + node.name + "': " + error.what());
  }
}

void expect_precision(const InferContext& c) {
  const auto& name = c.attr<std::string>(attr_name);
  if (!find(name)) c.fail("the precision " + std::string(known), "'" + name + "'");
}

}  // namespace actorflow
