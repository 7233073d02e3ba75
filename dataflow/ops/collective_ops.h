// Collective operations in graphs: each node is one rank's part, and runs on the task of that rank.
//
//   const RankList ranks{{"/job:worker/task:0", "/job:worker/task:1"}};
//   for (const auto& task : ranks.tasks)
//     sums.push_back(g.on(task, [&] { return all_reduce(gradient_of(task), ranks, "dense/w"); }));
//
// The ranks' nodes may be in one graph, or each in the graph of its task. A step waits until all ranks
// have reached the node. The sum is in the order of ranks, whatever the algorithm.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/collectives/agreement.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// Which life of its group a node belongs to. A group lives from when all ranks have opened it until a
// rank is lost, or a step with one of its nodes is given up.
enum class GroupLife : std::uint8_t {
  any,     // the present one; if there is none, the node opens the next
  begins,  // the next one: the first such node of a step ends the present one, on all ranks
  // The life that `begins` has opened. Once that has ended the node fails with the reason: a replica
  // that had no operation under way when a rank was lost must not wait for others, which begin a new
  // life.
  continues,
};
std::string_view to_string(GroupLife life);
GroupLife parse_life(std::string_view name);  // throws invalid_argument

// The ranks by their tasks, in order.
struct RankList {
  std::vector<std::string> tasks;
  GroupLife life = GroupLife::any;
};

struct GraphReduce {
  ReduceOp reduction = ReduceOp::sum;
  double prescale = 1, postscale = 1;
  ReduceCompression compression = ReduceCompression::none;  // of float32
};

// Operations. Ranks find each other by `name`, which a step uses once. Each operation on tensors is
// linear and has the gradient of that map; a minimum, maximum or product has none. The node takes the
// device in scope.

// [..] -> [..] on every rank. int32, int64, float16, bfloat16, float32, float64.
Output all_reduce(const Output& value, const RankList& ranks, const std::string& name,
                  const GraphReduce& how = {});
// Reduces several tensors of one dtype as one operation: the ranks agree once and send one message,
// instead of once for each tensor.
std::vector<Output> grouped_all_reduce(const std::vector<Output>& values, const RankList& ranks,
                                       const std::string& name, const GraphReduce& how = {});
// [n_r, ..] -> [n_0 + n_1 + .., ..].
Output all_gather(const Output& value, const RankList& ranks, const std::string& name);
// The value of the root, on every rank. Other ranks pass a value of the same type, which is ignored.
Output broadcast(const Output& value, const RankList& ranks, int root, const std::string& name);
// [n, ..] -> the rank's rows of the sum; the first n mod P ranks have one more.
Output reduce_scatter(const Output& value, const RankList& ranks, const std::string& name,
                      const GraphReduce& how = {});
// Several tensors of one dtype -> [elements[rank]]: the tensors' elements, one tensor after the other,
// are summed over the ranks, and each rank gets its part of the sum. `elements` says how many each rank
// gets.
Output grouped_reduce_scatter(const std::vector<Output>& values, const RankList& ranks,
                              const std::vector<std::int64_t>& elements, const std::string& name,
                              const GraphReduce& how = {});
// [n, ..], int64[P] -> the rows that the ranks have sent to this one, in the order of ranks. `splits`:
// how many of the n rows go to each rank, 0 or more.
Output all_to_all(const Output& value, const Output& splits, const RankList& ranks,
                  const std::string& name);
// A node without output, which ends when all ranks have reached it. Graph::after() says what each rank
// does before and after it. No numbers pass it, so it has no gradient.
Output barrier(Graph& graph, const RankList& ranks, const std::string& name);
// This rank has no more data: until all ranks have reached their join, it takes part with zeros in the
// sums and averages that the others reduce in their steps (an average still divides by all ranks). ->
// int64 scalar, the rank that joined last. A step has at most one for these ranks, which runs after its
// other operations of these ranks if Graph::after() says so. `name` is for messages only. It has no
// gradient.
Output join(Graph& graph, const RankList& ranks, const std::string& name);

// Who waits for whom in the groups of the task that runs the node, by rank 0 of each: string [lines], as
// lines_of() of dataflow/collectives/group_waits.h writes them. It needs no ranks, and waits for no
// operation.
Output collective_waits(Graph& graph);

// Attrs of all of them but CollectiveWaits: ranks (tasks, with blanks between them), collective (the
// name), life.
const OpDef& all_reduce_op();  // (x, ..) -> y, ..; reduction, prescale, postscale, compression, only_on:
                               // -1, or the rank that gets the result, the others zeros
const OpDef& all_gather_op();  // (x) -> y, rows int64[P]; scale
const OpDef& broadcast_op();   // (x) -> y; root
const OpDef& reduce_scatter_op();  // (x, rows int64[P] or nothing) -> y; as all_reduce, without only_on
const OpDef& grouped_reduce_scatter_op();  // (x, ..) -> y[k]; elements int64 list, and as
                                           // reduce_scatter; it has no gradient
const OpDef& all_to_all_op();              // (x, splits int64[P]) -> y, rows int64[P]
const OpDef& barrier_op();                 // () ->; it has no gradient
const OpDef& collective_waits_op();        // () -> lines string [n]; it has no gradient
const OpDef& join_op();                    // () -> last int64; it has no gradient

std::span<const OpDef* const> collective_ops();
// The tasks of the attribute `ranks`.
std::vector<std::string> ranks_of(const Node& node);
GroupLife life_of(const Node& node);

}  // namespace actorflow
