#include "dataflow/train/partitioned_variable.h"

#include <algorithm>
#include <numeric>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

std::vector<std::int64_t> equal_parts(std::int64_t rows, std::int64_t parts) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), rows / parts);
  std::fill_n(sizes.begin(), rows % parts, rows / parts + 1);
  return sizes;
}

std::int64_t row_bytes(const TensorType& type) {
  auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  for (int i = 1; i < type.shape.rank(); ++i) bytes *= type.shape[i];
  return bytes;
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::vector<std::int64_t> part_sizes(std::string_view name, const TensorType& type,
                                     const Partitioner& partitioner) {
  if (!type.shape.fully_known() || type.shape.rank() == 0 || type.shape[0] == 0)
    throw invalid_argument("the partitioned variable '" + std::string(name) +
                           "' needs a fully known shape with rows, but is " + type.to_string());
  auto sizes = partitioner(type);
  const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (sum != type.shape[0] || std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; }))
    throw invalid_argument("the parts of variable '" + std::string(name) +
                           "' must have 1 or more rows each, " + std::to_string(type.shape[0]) +
                           " together, but the partitioner made " + std::to_string(sizes.size()) +
                           " parts of " + std::to_string(sum) + " rows");
  return sizes;
}

// The name of the whole, from the name of a part.
std::string without_suffix(const std::string& name, const std::string& suffix) {
  return name.substr(0, name.size() - suffix.size());
}

}  // namespace

Partitioner fixed_size_partitioner(int parts) {
  if (parts < 1) throw invalid_argument("a variable has 1 or more parts, got " + std::to_string(parts));
  return [parts](const TensorType& type) {
    return equal_parts(type.shape[0], std::min<std::int64_t>(parts, type.shape[0]));
  };
}

Partitioner variable_axis_size_partitioner(std::int64_t max_part_bytes, int max_parts) {
  if (max_part_bytes < 1 || max_parts < 0)
    throw invalid_argument("expected parts of 1 or more bytes and a number of parts, got " +
                           std::to_string(max_part_bytes) + " bytes and " + std::to_string(max_parts) +
                           " parts");
  return [=](const TensorType& type) {
    const std::int64_t bytes = std::max<std::int64_t>(row_bytes(type), 1);
    const std::int64_t rows = std::max<std::int64_t>(max_part_bytes / bytes, 1);
    std::int64_t parts = divided_up(type.shape[0], rows);
    if (max_parts > 0) parts = std::min<std::int64_t>(parts, max_parts);
    return equal_parts(type.shape[0], parts);
  };
}

PartitionedVariable::PartitionedVariable(std::string name, TensorType type, std::vector<Variable> parts)
    : name_(std::move(name)), type_(std::move(type)), parts_(std::move(parts)), boundaries_{0} {
  ACTORFLOW_CHECK(!parts_.empty(), name_);
  for (const auto& part : parts_) boundaries_.push_back(boundaries_.back() + part.type().shape[0]);
}

PartitionedVariable partitioned_variable(Graph& graph, std::string_view name, const TensorType& type,
                                         const PartInitializer& initial,
                                         const Partitioner& partitioner) {
  const auto sizes = part_sizes(name, type, partitioner);
  std::vector<Variable> parts;
  std::string suffix;
  std::vector<std::int64_t> offset(static_cast<std::size_t>(type.shape.rank()));
  for (const std::int64_t rows : sizes) {
    Shape shape{rows};
    for (int i = 1; i < type.shape.rank(); ++i) shape.push_back(type.shape[i]);
    const Output value = initial(shape, offset[0]);
    if (value.type() != TensorType{type.dtype, shape})
      throw invalid_argument("part " + std::to_string(parts.size()) + " of variable '" +
                             std::string(name) + "' must begin as " +
                             TensorType{type.dtype, shape}.to_string() + ", but its initializer made " +
                             value.type().to_string());
    suffix = "/part_" + std::to_string(parts.size());
    parts.push_back(
        graph.variable(std::string(name) + suffix, value, {std::string(name), type.shape, offset}));
    offset[0] += rows;
  }
  return {without_suffix(parts.back().name(), suffix), type, std::move(parts)};
}

}  // namespace actorflow
