#include "actors/eager/committed_state.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>

#include "dataflow/values/error.h"
#include "dataflow/values/exception_status.h"
#include "kernels/devices/on_device.h"
#include "schema/records/record_codec.h"

namespace actorflow {
namespace {

Tensor on_host(const Tensor& tensor) { return on_device(tensor, cpu_device()); }

// That of the rank with the most commits, the first one of several.
struct Newest {
  int rank = 0;
  std::int64_t commits = 0;
};
Newest newest_of(const Communicator& world, std::int64_t commits) {
  const std::int64_t size = world.size();
  const Tensor own = Tensor::scalar(commits * size + (size - 1 - world.rank()));
  const Tensor best = world.all_reduce(own, {.name = "committed/newest", .reduction = ReduceOp::max});
  const auto number = best.scalar<std::int64_t>();
  return {static_cast<int>(size - 1 - number % size), number / size};
}

// The bytes of the root, whose number the others do not know.
Tensor broadcast_bytes(const Communicator& world, const Tensor& own, int root) {
  const Tensor size = world.broadcast(Tensor::scalar(own.elements()), root, {"committed/size"});
  const bool is_root = world.rank() == root;
  const Tensor there = is_root ? own : world.allocate(DType::uint8, Shape{size.scalar<std::int64_t>()});
  return world.broadcast(there, root, {"committed/state"});
}

// Whether a loop goes on from its newest commit after an error. Most others are the program's own, and
// would come again.
class Resets {
 public:
  explicit Resets(std::optional<int> limit) : limit_(limit) {}

  bool allow(Code code, std::int64_t commits) {
    const bool lost = code == Code::unavailable || code == Code::aborted;
    if (commits > std::exchange(commits_, commits)) lacks_ = 0;
    const bool lacked = code == Code::resource_exhausted && lacks_++ < lacks_in_a_row;
    return (lost || lacked) && (!limit_ || made_++ < *limit_);
  }

 private:
  static constexpr int lacks_in_a_row = 3;

  const std::optional<int> limit_;
  int made_ = 0;
  int lacks_ = 0;             // of memory or the like, since something was committed
  std::int64_t commits_ = 0;  // at the last error
};

// The others do not wait for this rank, which has failed by itself.
void tell_others(const Communicator& world, const Status& why, bool goes_on) {
  world.abandon({goes_on ? Code::aborted : Code::unavailable,
                 fmt::format("rank {} {}: {}", world.rank(),
                             goes_on ? "goes back to its newest commit" : "has failed", why.message)});
}

}  // namespace

CommittedState::CommittedState(EagerState state, Numbers numbers)
    : state_(std::move(state)), numbers_(std::move(numbers)) {}

CommittedState::Values CommittedState::present() const {
  Values values;
  for (const auto& number : numbers_) values.numbers.push_back(number);
  for (const auto& variable : state_.variables) values.variables.push_back(variable.read());
  for (const EagerOptimizer& optimizer : state_.optimizers)
    for (const auto& variable : state_.variables) values.slots.push_back(optimizer.slots(variable));
  return values;
}

void CommittedState::expect_fit(const Values& values) const {
  if (values.numbers.size() != numbers_.size() || values.variables.size() != state_.variables.size() ||
      values.slots.size() != state_.variables.size() * state_.optimizers.size())
    throw invalid_argument(fmt::format(
        "a rank has committed {} variables, {} numbers and slots of {}, expected {}, {} and {}: every "
        "rank gives the same lists",
        values.variables.size(), values.numbers.size(), values.slots.size(), state_.variables.size(),
        numbers_.size(), state_.variables.size() * state_.optimizers.size()));
  auto slots = values.slots.begin();
  for (std::size_t i = 0; i < state_.variables.size(); ++i)
    state_.variables[i].expect_value(values.variables[i]);
  for (const EagerOptimizer& optimizer : state_.optimizers)
    for (const auto& variable : state_.variables)
      if (const auto& those = *slots++; !those.empty()) optimizer.expect_slots(variable, those);
}

void CommittedState::assign(const Values& values) {
  auto slots = values.slots.begin();
  for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i].get() = values.numbers[i];
  for (std::size_t i = 0; i < state_.variables.size(); ++i)
    state_.variables[i].assign(values.variables[i]);
  for (EagerOptimizer& optimizer : state_.optimizers)
    for (const auto& variable : state_.variables) optimizer.set_slots(variable, *slots++);
}

void CommittedState::commit() {
  committed_ = present();
  ++commits_;
}

void CommittedState::restore() {
  if (!committed_)
    throw Error(Code::failed_precondition, "there is no state to go back to: call commit() before");
  assign(*committed_);
}

Tensor CommittedState::to_bytes(const Values& values) {
  Values host{values.numbers, {}, {}};
  for (const Tensor& tensor : values.variables) host.variables.push_back(on_host(tensor));
  for (const auto& slots : values.slots) {
    auto& there = host.slots.emplace_back();
    for (const Tensor& slot : slots) there.push_back(on_host(slot));
  }
  const auto size = static_cast<std::int64_t>(encoded_size(host));
  Tensor bytes = Tensor::allocate(DType::uint8, Shape{size});
  encode(host, static_cast<std::byte*>(bytes.mutable_data()));
  return bytes;
}

CommittedState::Values CommittedState::from_bytes(const Tensor& bytes) {
  RecordReader reader(std::as_bytes(bytes.values<std::uint8_t>()));
  return decode<Values>(reader);
}

void CommittedState::sync(const Communicator& world) {
  const Newest newest = newest_of(world, commits_);
  const bool is_root = world.rank() == newest.rank;
  const Tensor own =
      is_root ? to_bytes(committed_ ? *committed_ : present()) : Tensor::zeros(DType::uint8, {0});
  Values values = from_bytes(broadcast_bytes(world, own, newest.rank));
  expect_fit(values);
  assign(values);
  committed_ = std::move(values);
  commits_ = std::max<std::int64_t>(newest.commits, 1);
}

void run_elastic(CommittedState& state, const std::function<Communicator()>& open,
                 const std::function<void(const Communicator& world)>& train,
                 std::optional<int> reset_limit) {
  Resets resets(reset_limit);
  while (true) {
    std::optional<Communicator> world;
    try {
      if (state.commits() > 0) state.restore();
      world.emplace(open());
      state.sync(*world);
      return train(*world);
    } catch (const std::exception&) {
      const Status why = current_exception_status();
      const bool goes_on = resets.allow(why.code, state.commits());
      if (world) tell_others(*world, why, goes_on);
      if (!goes_on) throw;
      spdlog::info("training goes on from commit {}: {}", state.commits(), why.message);
    }
  }
}

}  // namespace actorflow
