// One use of a name: carries out a rank's schedule on tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "actors/collectives/operation/arithmetic.h"
#include "actors/core/task_context.h"
#include "dataflow/collectives/schedule.h"
#include "kernels/core/computing.h"

namespace actorflow {

// A rank's contribution.
struct RankInput {
  Tensor tensor;
  // All-to-all: the number of rows for each rank.
  std::vector<std::int64_t> splits{};
};
struct CollectiveResult {
  Status status{};
  Tensor tensor{};
  // All-gather and all-to-all: the number of rows that came from each rank.
  std::vector<std::int64_t> rows{};
};

// Belongs to an actor.
class Operation {
 public:
  // Passes a message to that rank. `number` counts the messages to it, from 0.
  using Send =
      std::function<void(int rank, std::uint32_t number, std::vector<std::int64_t> rows, Tensor)>;

  Operation(TaskRef task, SchedulePlan plan, int rank, CollectiveCall call, RankInput own);

  // Adds parts as reduce_in_order() does.
  using Reduce = std::function<void(const CollectiveCall&, std::span<const Bytes>, SumStage,
                                    std::span<std::byte>, Team*)>;

  // Carries out the schedule as far as possible; true once the operation is done.
  bool advance(const Send& send, const Reduce& reduce = reduce_in_order);
  // Keeps a message until its turn comes; drops a repeated one. Call advance() afterwards.
  void receive(int from, std::uint32_t number, std::vector<std::int64_t> rows, Tensor payload);
  // Whether a message of that rank is still to come.
  bool needs(int rank) const;
  // Call once. REQUIRES: the operation is done.
  CollectiveResult take_result();

 private:
  // Bytes within a tensor that keeps them alive. What the network has brought is lent, up to a limit for
  // each sender: it is let go once it is added, and complete sums are copied to their places.
  struct Held {
    Tensor owner;
    Bytes bytes;
    std::int64_t rows = 0;
    bool from_network = false;
  };
  struct Message {
    std::vector<std::int64_t> rows;
    Tensor payload;
  };

  void take_own(const RankInput& own);
  std::int64_t begin_of_slice(int slice) const;
  std::int64_t rows_of_slice(int slice) const;
  std::size_t row_bytes(const Piece& piece) const;
  void send(const ScheduleStep& step, const Send& send);
  bool receive(const ScheduleStep& step);
  void unpack(const ScheduleStep& step, const Message& message);
  void add(const ScheduleStep& step, const Reduce& reduce);
  bool is_in_place(const Piece& sum) const;
  std::span<std::byte> place_of_sum(int slice);
  void put_in_place(Held& sum, int slice);
  bool follow_each_other(const std::vector<Piece>& pieces) const;
  Tensor packed(const std::vector<Piece>& pieces, std::size_t bytes) const;
  Tensor allocate(std::size_t bytes) const;
  Tensor copied(const std::vector<Piece>& pieces, std::size_t bytes) const;
  Tensor expanded(const std::vector<Piece>& pieces, const Shape& shape) const;
  std::vector<std::int64_t> result_dims(std::int64_t rows) const;

  const TaskRef task_;
  const SchedulePlan plan_;
  const int rank_;
  const CollectiveCall call_;
  const WorkName work_;
  std::int64_t total_rows_ = 0;  // that are cut into slices; of an all-reduce the elements
  std::size_t row_bytes_ = 0;
  RankSchedule steps_;
  std::size_t next_ = 0;
  std::map<Piece, Held> held_;
  Tensor sums_;  // of an all-reduce, its result: each sum is made where it belongs
  std::map<int, std::uint32_t> sent_, received_;  // messages, by rank
  std::map<std::pair<int, std::uint32_t>, Message> waiting_;
};

}  // namespace actorflow
