// Communicator: the collective operations of a program's ranks, as calls.
//
//   Communicator world(server);                         // all tasks of the cluster
//   Tensor sum = world.all_reduce(gradient, {.name = "dense/w"});
//   const ReduceOptions averaged{.name = "dense/b", .reduction = ReduceOp::average};
//   CollectiveHandle later = world.all_reduce_async(other, averaged);
//   Tensor mean = later.wait();
//
// A sum has the same bits on every rank, with every algorithm and any number of threads: it is that of
// ((x0 + x1) + x2) + ... in the order of ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/collectives/agreement.h"
#include "dataflow/collectives/group_waits.h"
#include "dataflow/collectives/link_cost.h"
#include "dataflow/collectives/ranks.h"
#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class Server;

struct CommunicatorOptions {
  // All ranks open the group by this name; a task may be in several.
  std::string group = "world";
  // The ranks' tasks, "/job:worker/task:0", in order; none: all tasks of the cluster.
  std::vector<std::string> members = {};
  // The host of each rank, for its local rank and for the hierarchical all-reduce, the same list on all
  // ranks; none: the hosts of the tasks' addresses. Nodes of graphs, and so training, go by the
  // addresses.
  std::vector<std::string> hosts = {};
  // How long to wait until all ranks have opened it.
  std::chrono::milliseconds timeout{60'000};
  // The algorithm of the operations that have several. Rank 0's setting counts.
  Algorithm algorithm = Algorithm::automatic;
  // The costs by which rank 0 chooses algorithms; none: rank 0 measures what messages cost when the
  // group opens, within a few milliseconds (300 at most), unless it has done so before. Rank 0's setting
  // counts.
  std::optional<CostModel> costs = {};
  // How long a call that waits for an all-reduce of 1 MiB at most among ranks of one machine polls before
  // it sleeps, at most 10 ms; it polls longer for large ones, by what the others' adding may take: with P
  // ranks of n bytes by P n / 5000 us. 0: it sleeps at once. Polling is useful where each rank has a core.
  std::chrono::microseconds spin{50};
};

// The ranks find each other by the name, which is in use by one operation at a time. The ranks agree on
// an operation when its name is first used, or used otherwise than before: equal names save time. Once
// there are thousands, those that are not used are forgotten, but for about 200 bytes, and are agreed on
// anew.
struct CollectiveOptions {
  std::string name = {};  // none: that of the operation, "all_gather"
};
struct ReduceOptions {
  std::string name = {};
  ReduceOp reduction = ReduceOp::sum;
  double prescale = 1, postscale = 1;
  ReduceCompression compression = ReduceCompression::none;  // of float32
};

// The rows, of the first dimension, that came from each rank.
struct GatheredRows {
  Tensor tensor;
  std::vector<std::int64_t> rows;
};

// An operation under way. Dropping it does not end the operation. Copies may be used by several threads.
class CollectiveHandle {
 public:
  // Waits for the result. Throws invalid_argument, naming both values and ranks, if the ranks differ;
  // failed_precondition for a name that is in flight on this rank, or a rank that has left; unavailable,
  // naming it, if a rank is lost; cancelled if the server has ended. After unavailable the group is
  // over; after the others the next operation works.
  Tensor wait() const;
  GatheredRows wait_for_rows() const;
  bool done() const;

 private:
  friend class Communicator;
  struct State;
  explicit CollectiveHandle(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// Thread-safe. REQUIRES: destroyed before its server.
class Communicator {
 public:
  // Waits until all ranks have opened the group. Throws invalid_argument if their members or hosts
  // differ, naming both lists, or for costs below 0, deadline_exceeded if some do not come, unavailable,
  // naming it, if a rank is lost that had come, already_exists if this task has the group.
  explicit Communicator(Server& server, const CommunicatorOptions& options = {});
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  // Leaves the group. What this rank has in flight fails as cancelled, on all ranks.
  ~Communicator();
  // Leaves the group as a rank that is lost does: what the others have in flight, and call later, fails
  // with this reason, and so does what this rank has in flight. Its later calls throw
  // failed_precondition, "has no group". Nothing happens if the group is over.
  void abandon(const Status& why) const;

  int rank() const { return place().rank; }
  int size() const;
  int local_rank() const { return place().local_rank; }
  int local_size() const { return place().local_size; }
  int cross_rank() const { return place().cross_rank; }
  int cross_size() const { return place().cross_size; }
  // Hosts are told apart by the tasks' addresses, unless CommunicatorOptions::hosts says more.
  const RankPlace& place() const;
  // Those by which rank 0 chooses algorithms, the same on every rank: given, measured, or the usual ones
  // where there is nothing to choose.
  const CostModel& costs() const;

  // A process set: a group of one or more of the ranks, in this order, which all of them open.
  Communicator subset(const std::vector<int>& ranks) const;

  // A tensor for the operations below, not initialised, in memory that the processes of this machine
  // share. Other tensors are copied there first. Throws what Tensor::allocate() throws.
  Tensor allocate(DType dtype, const Shape& shape) const;

  // Operations. Do not change their results: other ranks may still read them.
  //
  // Every rank gets the reduction of all ranks' values, of one shape: int32, int64, float16, bfloat16,
  // float32, float64.
  Tensor all_reduce(const Tensor& value, const ReduceOptions& options = {}) const;
  CollectiveHandle all_reduce_async(const Tensor& value, const ReduceOptions& options = {}) const;
  // Several tensors as one operation for each of their dtypes.
  std::vector<Tensor> grouped_all_reduce(const std::vector<Tensor>& values,
                                         const ReduceOptions& options = {}) const;
  // [n_r, ..] -> [n_0 + n_1 + .., ..], one after the other in the order of ranks. Any dtype but string.
  Tensor all_gather(const Tensor& value, const CollectiveOptions& options = {}) const;
  CollectiveHandle all_gather_async(const Tensor& value, const CollectiveOptions& options = {}) const;
  // The root's value. Other ranks pass a value of the same type, which is ignored.
  Tensor broadcast(const Tensor& value, int root, const CollectiveOptions& options = {}) const;
  CollectiveHandle broadcast_async(const Tensor& value, int root,
                                   const CollectiveOptions& options = {}) const;
  // [n, ..] -> this rank's rows of the reduction; the first n mod P ranks have one row more.
  Tensor reduce_scatter(const Tensor& value, const ReduceOptions& options = {}) const;
  CollectiveHandle reduce_scatter_async(const Tensor& value, const ReduceOptions& options = {}) const;
  // `splits`: how many rows go to each rank, 0 or more; none: equally many.
  GatheredRows all_to_all(const Tensor& value, const std::vector<std::int64_t>& splits = {},
                          const CollectiveOptions& options = {}) const;
  CollectiveHandle all_to_all_async(const Tensor& value, const std::vector<std::int64_t>& splits = {},
                                    const CollectiveOptions& options = {}) const;
  // Waits until all ranks have called it.
  void barrier(const CollectiveOptions& options = {}) const;

  // Which operations are in flight, which ranks have not called them, and what each rank did last. Rank
  // 0 asks all ranks and answers whoever asks, at any time, within 4 s. Throws unavailable, naming it,
  // if it does not answer, and otherwise what wait() throws.
  GroupWaits waits() const;

  // This rank has no more data: until all ranks have joined it takes part in the others' sums and
  // averages with zeros (an average still divides by all ranks). Returns the rank that joined last.
  int join() const;

 private:
  struct Impl;
  explicit Communicator(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace actorflow
