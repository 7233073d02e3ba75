// PartitionIds and StitchRows: ids to the parts of a table that have them, and their rows back.
#include "kernels/ops/embedding.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/indexing.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/sort_pairs.h"
#endif

namespace actorflow {
namespace {

using Boundaries = std::vector<std::int64_t>;

// The outputs are, for each part, the rows that are wanted of it, then, for each part, the places of
// these in the flat ids.
void infer_partition_ids(InferContext& c) {
  expect_dtype_in<IndexTypes>(c, 0);
  const auto& boundaries = c.attr<Boundaries>("boundaries");
  if (boundaries.size() < 2 || boundaries[0] != 0 || !std::ranges::is_sorted(boundaries))
    c.fail("the first row of each part, from 0 on, and the number of rows",
           std::to_string(boundaries.size()) + " boundaries");
  for (std::size_t i = 0; i < 2 * (boundaries.size() - 1); ++i)
    c.add_output(DType::int64, {Shape::unknown});
}

const OpDef& partition_ids_op() {
  static const OpDef op{.name = "PartitionIds",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"boundaries", Boundaries(), true}, {"mod", false}},
                        .infer = infer_partition_ids,
                        .needs_host = true};
  return op;
}

struct PartRow {
  std::size_t part;
  std::int64_t row;
};

PartRow find_row(std::int64_t id, const Boundaries& boundaries, bool mod) {
  if (mod) {
    const auto parts = std::ssize(boundaries) - 1;
    return {static_cast<std::size_t>(id % parts), id / parts};
  }
  const auto next = std::ranges::upper_bound(boundaries, id);
  return {static_cast<std::size_t>(next - boundaries.begin() - 1), id - *(next - 1)};
}

template <class Index>
void partition_ids(OpContext& c, std::span<const Index> ids) {
  const auto& boundaries = attr<Boundaries>(c.node(), "boundaries");
  const bool mod = attr<bool>(c.node(), "mod");
  const std::size_t parts = boundaries.size() - 1;
  std::vector<std::vector<std::int64_t>> lists(2 * parts);
  for (std::size_t place = 0; place < ids.size(); ++place) {
    const std::int64_t id = ids[place];
    if (id < 0 || id >= boundaries.back())
      c.fail("ids from 0 to " + std::to_string(boundaries.back() - 1),
             "the id " + std::to_string(id) + " at place " + std::to_string(place));
    const auto [part, row] = find_row(id, boundaries, mod);
    lists[part].push_back(row);
    lists[parts + part].push_back(static_cast<std::int64_t>(place));
  }
  for (std::size_t i = 0; i < lists.size(); ++i)
    c.set_output(static_cast<int>(i),
                 c.device().to_device(Tensor::of({std::ssize(lists[i])}, lists[i])));
}

#ifdef ACTORFLOW_CUDA

// Where the rows of a table are, on the GPU.
struct PartsOnDevice {
  const std::int64_t* boundaries;
  std::int64_t parts;
  bool mod;

  // The part that has this id; `parts` if none has.
  __device__ std::uint32_t part_of(std::int64_t id) const {
    if (id < 0 || id >= boundaries[parts]) return static_cast<std::uint32_t>(parts);
    if (mod) return static_cast<std::uint32_t>(id % parts);
    std::int64_t low = 0, high = parts;  // boundaries[low] <= id < boundaries[high]
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (boundaries[middle] <= id ? low : high) = middle;
    }
    return static_cast<std::uint32_t>(low);
  }
  __device__ std::int64_t row_of(std::int64_t id, std::int64_t part) const {
    return mod ? id / parts : id - boundaries[part];
  }
};

// Sorts the places of the ids by part. Waits once, for the size of each part, which decides about
// shapes. False, without outputs, if an id is in no part.
template <class Index>
bool partition_on_cuda(OpContext& c, const Index* ids) {
  Device& device = c.device();
  const std::int64_t count = c.input(0).elements();
  const auto& boundaries = attr<Boundaries>(c.node(), "boundaries");
  const auto parts = std::ssize(boundaries) - 1;
  const Tensor limits = device.to_device(Tensor::of({std::ssize(boundaries)}, boundaries));
  const PartsOnDevice table{static_cast<const std::int64_t*>(limits.data()), parts,
                            attr<bool>(c.node(), "mod")};
  const DeviceScratch<std::uint32_t> part(device, count), sorted_part(device, count);
  const DeviceScratch<std::int64_t> places(device, count), sorted_places(device, count);
  launch(device, count, [=, to = part.data(), all = places.data()] __device__(std::int64_t i) {
    to[i] = table.part_of(static_cast<std::int64_t>(ids[i]));
    all[i] = i;
  });
  sort_pairs(device, count, bits_below(parts + 1), part.data(), places.data(), sorted_part.data(),
             sorted_places.data());
  Tensor ends = Tensor::allocate(DType::int64, {parts}, device.allocator());
  launch(device, parts,
         [=, of = sorted_part.data(), to = static_cast<std::int64_t*>(ends.mutable_data())] __device__(
             std::int64_t i) {
           std::int64_t low = 0, high = count;  // the first place of a later part
           while (low < high) {
             const std::int64_t middle = (low + high) / 2;
             if (of[middle] <= i)
               low = middle + 1;
             else
               high = middle;
           }
           to[i] = low;
         });
  const Tensor on_host = device.to_host(ends);
  if (on_host.values<std::int64_t>().back() != count) return false;
  std::int64_t begin = 0;
  for (int i = 0; i < parts; ++i) {
    const std::int64_t size = on_host.values<std::int64_t>()[static_cast<std::size_t>(i)] - begin;
    auto* rows = mutable_data_of<std::int64_t>(c.allocate_output(i, DType::int64, {size}));
    auto* to = mutable_data_of<std::int64_t>(
        c.allocate_output(static_cast<int>(parts) + i, DType::int64, {size}));
    launch(device, size, [=, from = sorted_places.data() + begin] __device__(std::int64_t k) {
      to[k] = from[k];
      rows[k] = table.row_of(static_cast<std::int64_t>(ids[from[k]]), i);
    });
    begin += size;
  }
  return true;
}

#endif

// An id that is in no part is named by the CPU's loop.
void partition_ids_kernel(OpContext& c) {
#ifdef ACTORFLOW_CUDA
  bool done = false;
  if (c.device().type() == DeviceType::cuda)
    dispatch<IndexTypes>(c, c.input(0), [&]<class Index>() {
      done = partition_on_cuda(c, data_of<Index>(c.input(0)));
    });
  if (done) return;
#endif
  const Tensor ids = c.device().to_host(c.input(0));
  dispatch<IndexTypes>(c, ids, [&]<class Index>() { partition_ids<Index>(c, ids.values<Index>()); });
}

// The dimensions of the ids, then those of a row.
template <class Context>
Shape stitched_shape(const Context& c, const Shape& ids, const Shape& rows) {
  if (rows.rank() < 1 || ids.rank() + rows.rank() - 1 > Shape::max_rank)
    c.fail("rows of which the result has at most 8 dimensions",
           rows.to_string() + " for ids " + ids.to_string());
  Shape shape = ids;
  for (int i = 1; i < rows.rank(); ++i) shape.push_back(rows[i]);
  return shape;
}

// Inputs: ids, the places of each part, the rows of each part.
void infer_stitch_rows(InferContext& c) {
  if (c.inputs() % 2 == 0)
    c.fail("ids, then places and rows of each part", std::to_string(c.inputs()) + " inputs");
  const int parts = c.inputs() / 2;
  for (int i = 1; i <= parts; ++i) {
    c.expect_dtype(i, DType::int64);
    c.expect_rank(i, 1);
    c.expect_dtype(parts + i, c.input(parts + 1).dtype);
  }
  expect_dtype_in<PlainTypes>(c, parts + 1);
  const Shape &ids = c.input(0).shape, &rows = c.input(parts + 1).shape;
  const bool known = ids.has_rank() && rows.has_rank();
  c.add_output(c.input(parts + 1).dtype, known ? stitched_shape(c, ids, rows) : Shape::unknown_rank());
}

std::vector<Output> stitch_rows_gradient(GradientContext& c) {
  const int parts = static_cast<int>(c.node().inputs.size()) / 2;
  Shape flat{Shape::unknown};
  for (int i = 1; i < c.input(parts + 1).shape().rank(); ++i)
    flat.push_back(c.input(parts + 1).shape()[i]);
  const Output rows = reshape(c.gradient(), flat);
  std::vector<Output> gradients(static_cast<std::size_t>(parts) + 1);
  for (int i = 1; i <= parts; ++i) gradients.push_back(gather(rows, c.input(i)));
  return gradients;
}

const OpDef& stitch_rows_op() {
  static const OpDef op{.name = "StitchRows",
                        .min_inputs = 3,
                        .max_inputs = OpDef::any_number,
                        .infer = infer_stitch_rows,
                        .gradient = stitch_rows_gradient};
  return op;
}

template <class T>
void place_rows(OpContext& c, std::int64_t count, std::int64_t row_elements, const Tensor& places_tensor,
                const T* rows, T* out) {
  const auto* places = static_cast<const std::int64_t*>(places_tensor.data());
  const std::int64_t given = places_tensor.elements();
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return launch(c.device(), given * row_elements, [=] __device__(std::int64_t i) {
      const std::int64_t place = places[i / row_elements];
      if (place >= 0 && place < count) out[place * row_elements + i % row_elements] = rows[i];
    });
#endif
  for (std::int64_t i = 0; i < given; ++i) {
    if (places[i] < 0 || places[i] >= count)
      c.fail("places from 0 to " + std::to_string(count - 1), std::to_string(places[i]));
    std::copy_n(rows + i * row_elements, row_elements, out + places[i] * row_elements);
  }
}

void stitch_rows_kernel(OpContext& c) {
  const int parts = c.inputs() / 2;
  const Tensor &ids = c.input(0), &first = c.input(parts + 1);
  const Shape shape = stitched_shape(c, ids.shape(), first.shape());
  Tensor& out = c.allocate_output(0, first.dtype(), shape);
  std::int64_t row_elements = 1, given = 0;
  for (int i = 1; i < first.shape().rank(); ++i) row_elements *= first.shape()[i];
  for (int i = 1; i <= parts; ++i) {
    const Tensor& rows = c.input(parts + i);
    given += c.input(i).elements();
    if (rows.dtype() != first.dtype() || rows.elements() != c.input(i).elements() * row_elements)
      c.fail("a row for each place, of the kind of " + first.describe(), rows.describe());
  }
  if (given != ids.elements())
    c.fail("a place for each of " + std::to_string(ids.elements()) + " ids", std::to_string(given));
  dispatch_by_size(c, out, [&]<class T>() {
    for (int i = 1; i <= parts; ++i)
      place_rows<T>(c, ids.elements(), row_elements, c.input(i),
                    static_cast<const T*>(c.input(parts + i).data()),
                    static_cast<T*>(out.mutable_data()));
  });
}

// With `mod` part i has the rows i, i + parts, ...
void check_for_mod(const PartitionedVariable& table) {
  const auto parts = std::ssize(table.parts());
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t actual = table.parts()[static_cast<std::size_t>(i)].type().shape[0];
    const std::int64_t expected = (table.rows() - i + parts - 1) / parts;
    if (actual != expected)
      throw invalid_argument("embedding_lookup() by mod: part " + std::to_string(i) + " of '" +
                             table.name() + "' must have " + std::to_string(expected) +
                             " rows, but has " + std::to_string(actual) + "; look up by div");
  }
}

}  // namespace

Output embedding_lookup(Output table, Output ids) {
  const std::string device = table.node().device;
  return table.graph->on(device, [&] { return gather(table, ids); });
}

Output embedding_lookup(const PartitionedVariable& table, Output ids, PartitionStrategy strategy) {
  const bool mod = strategy == PartitionStrategy::mod;
  if (mod) check_for_mod(table);
  const int parts = static_cast<int>(table.parts().size());
  if (parts == 1) return embedding_lookup(table.parts()[0], ids);
  Graph& graph = *ids.graph;
  const Output split =
      graph.add(partition_ids_op(), {ids}, {{"boundaries", table.boundaries()}, {"mod", mod}});
  std::vector<Output> inputs{ids};
  for (int i = 0; i < parts; ++i) inputs.push_back(split.output(parts + i));
  for (int i = 0; i < parts; ++i)
    inputs.push_back(embedding_lookup(table.parts()[static_cast<std::size_t>(i)], split.output(i)));
  return graph.add(stitch_rows_op(), inputs);
}

Output whole(const PartitionedVariable& variable) {
  return concat({variable.parts().begin(), variable.parts().end()}, 0);
}

PartitionedVariable partitioned_variable(Graph& graph, std::string_view name, Output initial,
                                         const Partitioner& partitioner) {
  const auto part = [&](const Shape& shape, std::int64_t first_row) {
    std::vector<std::int64_t> begin(static_cast<std::size_t>(shape.rank()));
    begin[0] = first_row;
    return slice(initial, begin, {shape.dims().begin(), shape.dims().end()});
  };
  return partitioned_variable(graph, name, initial.type(), part, partitioner);
}

std::vector<Op> embedding_ops() {
  return {on_all_devices<partition_ids_kernel>(partition_ids_op()),
          on_all_devices<stitch_rows_kernel>(stitch_rows_op())};
}

}  // namespace actorflow
