// The accumulator of one variable in synchronous training: it gathers the gradients of a step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/training/token_barrier.h"
#include "kernels/update/reproducible_sum.h"
#include "kernels/update/sparse_update.h"

namespace actorflow {

// Counts of a replica's gradients by what happened to them.
struct GradientCounts {
  std::int64_t counted = 0;
  std::int64_t stale = 0;       // dropped: computed at an earlier step
  std::int64_t repeated = 0;    // dropped: the replica had made this contribution before a restart
  std::int64_t not_finite = 0;  // counted, but left out
};

// A gradient counts only if it was computed at the accumulator's step or later; older ones are
// dropped and counted. Follows TensorFlow's ConditionalAccumulator. Not thread-safe: it belongs to a
// shard.
//
// The mean of a step has the same bits in whatever order its gradients come. Up to `most_kept` of them
// are kept for that, and added in the order of replicas; where more are awaited, each is added to a sum
// that no order changes, which takes longer, but no more memory for a thousand replicas than for five.
class Accumulator {
 public:
  static constexpr std::size_t most_kept = 4;

  // Adds a gradient; false if it is stale. A contribution counts once, also without a gradient, if that
  // was not finite.
  bool add(int replica, const Contribution& contribution, std::optional<Gradient> gradient,
           Tensor learning_rate = {});
  std::size_t size() const { return gradients_.size(); }
  bool has(int replica) const;
  // Whether a gradient of the replica for this step has counted, whether it is still here or taken.
  bool has_counted(int replica, std::int64_t step) const;

  // The replica's last contribution that counted.
  Contribution last(int replica) { return this->replica(replica).last; }
  // Removes the gradient that was added last. `before`: the value of last() before it was added.
  // REQUIRES: merge() was not called since.
  void withdraw(const Contribution& before) noexcept;
  // Adds the gradient that was added last, if it is dense, to the sum, and lets it go. Throws what
  // ReproducibleSum::add() throws; nothing has changed then.
  void merge(Device& device, Team* team);

  struct Gathered {
    // Those that were kept, in the order of replicas and contributions; or the mean of all.
    std::vector<Gradient> gradients;
    Tensor learning_rate;  // of the first replica
  };
  // What is to be applied. Takes the last gradient, which withdraw() may still remove. Throws what
  // ReproducibleSum::mean() throws. REQUIRES: size() > 0.
  Gathered gather(Device& device, Team* team);
  // Call when the gradients have been applied: moves the accumulator to the next step.
  void advance() noexcept;
  // The accumulator's global step: gradients of earlier steps are dropped.
  std::int64_t global_step() const { return global_step_; }
  const GradientCounts& counts(int replica) { return this->replica(replica).counts; }

 private:
  struct Replica {
    GradientCounts counts;
    Contribution last = no_contribution;  // that counted; the next ones are later
    std::size_t gradients = 0;            // that are here
  };
  struct Entry {
    int replica;
    Contribution contribution;
    std::optional<Gradient> gradient;
    Tensor learning_rate;
    bool is_finite;
  };
  Replica& replica(int index);
  void merge(Entry& entry, Device& device, Team* team);
  // By replica and contribution.
  std::vector<const Entry*> in_order() const;

  std::vector<Entry> gradients_;
  ReproducibleSum sum_;
  bool merges_ = false;  // merge() was called in this step
  std::vector<Replica> replicas_;
  std::int64_t global_step_ = 0;
};

}  // namespace actorflow
