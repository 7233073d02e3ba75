// What each replica feeds its steps with: its part of a batch, or of data of its own.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "actors/input/rows.h"
#include "actors/models/data/not_finite_data.h"
#include "actors/models/fit/cluster_fit.h"

namespace actorflow {

Feeds ClusterFit::next() {
  const std::int64_t batch = next_place_ % steps_per_epoch_;
  const int epoch = epoch_of(next_place_);
  auto parts = next_parts(epoch, batch);
  std::int64_t examples = 0;
  for (const Tuple& part : parts) examples += rows_of(part);
  // Asynchronous replicas differ in their speed: an epoch of the training is one of all steps together.
  return feeds_of(std::move(parts), examples, share_of(batch, examples),
                  is_sync() ? epoch : epoch_of(place_));
}

// Nothing if the data of this replica have ended before those of others.
std::vector<Tuple> ClusterFit::next_parts(int epoch, std::int64_t batch) {
  const std::int64_t step = is_sync() ? 1 : task_.num_replicas();
  next_place_ += step;
  if (own_data_ && batch >= data_.training.count_steps()) return {};
  if (next_batch_ != batch || batch < step) data_.training.begin_epoch(epoch, batch);
  next_batch_ = batch + step;
  return data_.training.next_parts();
}

// The divisor of the sum of the replica's losses.
float ClusterFit::share_of(std::int64_t batch, std::int64_t own) const {
  if (own_data_) return static_cast<float>(std::max<std::int64_t>(own, 1));
  const float sharers = is_sync() ? static_cast<float>(task_.num_replicas()) : 1.F;
  const bool is_of_batch = is_sync() || own == 0;
  return static_cast<float>(is_of_batch ? data_.training.examples_of_batch(batch) : own) / sharers;
}

Feeds ClusterFit::feeds_of(std::vector<Tuple> parts, std::int64_t examples, float share,
                           int epoch) const {
  Feeds feeds;
  micro_batches_ ? feed_parts(std::move(parts), share, feeds)
                 : feed_whole(std::move(parts), share, feeds);
  feeds.insert(feeds.end(), {{nodes_->replica.examples, Tensor::scalar(static_cast<double>(examples))},
                             {nodes_->replica.row, row_of_epoch(epoch)}});
  if (own_data_) feeds.emplace_back(nodes_->replica.has_data, Tensor::scalar(examples > 0));
  return feeds;
}

// One example of weight 0, where a replica has none of the batch.
void ClusterFit::feed_whole(std::vector<Tuple> parts, float share, Feeds& feeds) const {
  const bool has_examples = !parts.empty();
  const Tuple batch = has_examples ? std::move(parts[0]) : example_;
  const auto placeholders = nodes_->train_feeds(step_nodes_);
  for (std::size_t i = 0; i < placeholders.size(); ++i) feeds.emplace_back(placeholders[i], batch.at(i));
  const std::int64_t rows = rows_of(batch);
  const std::vector<float> weights(static_cast<std::size_t>(rows), has_examples ? 1.F : 0.F);
  feeds.insert(feeds.end(), {{nodes_->replica.weights, Tensor::of<float>({rows}, weights)},
                             {nodes_->replica.share, Tensor::scalar(share)}});
}

void ClusterFit::feed_parts(std::vector<Tuple> parts, float share, Feeds& feeds) const {
  const auto placeholders = ModelGraph::micro_batch_feeds(step_nodes_);
  Tuple values = nodes_->micro_batch_values(step_nodes_, std::move(parts), share, example_);
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    feeds.emplace_back(placeholders[i], std::move(values[i]));
}

// By the whole batch of the step, since what one replica's part makes infinite ends all of them.
Error ClusterFit::blamed(const Error& error) const {
  std::optional<Server> reader;  // this task's own server has stopped
  const auto batches = [&] {
    BatchesOptions shape = batches_of(options_, engine_.compiled().seed);
    if (own_data_) shape.batch_size /= task_.num_replicas();
    reader.emplace(Server::local(server_.runtime()));
    return FitData(*reader, source_, options_, shape).training;
  };
  const std::int64_t last =
      std::max<std::int64_t>(next_place_ - (is_sync() ? 1 : task_.num_replicas()), 0);
  const int epoch = epoch_of(last);
  const bool same_epoch = is_sync() && epoch_of(place_) == epoch && place_ < last;
  return with_blame(error, batches,
                    {epoch, (same_epoch ? place_ : last) % steps_per_epoch_, last % steps_per_epoch_},
                    types_.inputs.size(), types_.labels.size());
}

}  // namespace actorflow
