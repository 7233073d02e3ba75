// Training loops of one's own that go on when ranks are lost, leave and come, as with Horovod's elastic
// state: commit(), restore(), sync().
//
//   std::int64_t step = 0;
//   CommittedState state({model.variables(), {optimizer}}, {step});
//   run_elastic(state, [&] { return Communicator(server); }, [&](const Communicator& world) {
//     for (; step < 1000; ++step, state.commit()) train_a_step(world, step);
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "actors/collectives/communicator.h"
#include "actors/eager/eager_checkpoint.h"

namespace actorflow {

// What a training loop has to go back to: variables, what optimizers have beside them, and numbers of
// the program such as its step, each the same list on every rank. What was committed is kept in memory,
// and shares it with values that have not changed since. Not thread-safe. REQUIRES: the optimizers and
// numbers outlive this.
class CommittedState {
 public:
  using Numbers = std::vector<std::reference_wrapper<std::int64_t>>;
  explicit CommittedState(EagerState state, Numbers numbers = {});

  // Keeps the present values. Call it where all ranks have made the same steps.
  void commit();
  // Goes back to the values of the newest commit. Throws failed_precondition if there is none.
  void restore();
  // Gives every rank what the rank with the most commits has committed, the first one of several; where
  // no rank has committed, the present values of rank 0. So a rank that has just come never decides.
  // Every rank calls it; it counts as the first commit of ranks that had none. Throws what the
  // communicator throws, and invalid_argument if the ranks have other variables; then nothing has
  // changed.
  void sync(const Communicator& world);

  // The number of commits that have led to this state, also those of other ranks before sync(). 0:
  // there is nothing to go back to.
  std::int64_t commits() const { return commits_; }

 private:
  struct Values {
    std::vector<std::int64_t> numbers;
    std::vector<Tensor> variables;
    std::vector<std::vector<Tensor>> slots;  // of each optimizer, those of each variable
  };
  Values present() const;
  void expect_fit(const Values& values) const;
  void assign(const Values& values);
  static Tensor to_bytes(const Values& values);
  static Values from_bytes(const Tensor& bytes);

  const EagerState state_;
  const Numbers numbers_;
  std::optional<Values> committed_;
  std::int64_t commits_ = 0;
};

// Opens a group of ranks by `open`, which decides who takes part now, synchronises the state, calls
// `train` and returns when that does. If any of the three fails as unavailable or aborted, because a
// rank is lost or has begun anew, all are done again from the newest commit; as resource_exhausted, too,
// but three times in a row at most without a commit. After `reset_limit` times (none: no limit) the
// error is thrown, and so is every other error at once; for the other ranks this one is lost then, and
// they go on.
void run_elastic(CommittedState& state, const std::function<Communicator()>& open,
                 const std::function<void(const Communicator& world)>& train,
                 std::optional<int> reset_limit = {});

}  // namespace actorflow
