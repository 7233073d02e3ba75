#include "apps/training/evaluate.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/checkpoint/number_file.h"
#include "actors/checkpoint/saver.h"
#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "actors/monitored/event_log.h"
#include "actors/monitored/patience.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/task/server.h"
#include "apps/training/reports/accuracy.h"
#include "dataflow/train/replicate.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The step that an evaluator has dealt with last, in a file that outlives it.
class LastEvaluated {
 public:
  LastEvaluated(Storage& storage, const std::string& folder)
      : storage_(storage),
        path_(folder + "/last-evaluated"),
        step_(read_number(storage, path_).value_or(-1)) {}

  std::int64_t step() const { return step_; }
  void set(std::int64_t step) {
    step_ = step;
    write_number(storage_, path_, step);
  }

 private:
  Storage& storage_;
  std::string path_;
  std::int64_t step_;
};

class Evaluator {
 public:
  Evaluator(Server& server, const LabelledData& data, const TrainOptions& options)
      : data_(data), folder_(options.checkpoint_folder), storage_(server.runtime()->storage()) {
    step_ = global_step(graph_);
    model_ = make_classifier(graph_, architecture_of(options.model, data.types), data.types.example,
                             {.training = false, .label = data.types.label});
    auto saved = model_.variables.all();
    saved.push_back(step_);
    saver_.emplace(graph_, saved, step_);
    session_.emplace(server.target(), graph_);
    if (!options.summary_folder.empty())
      events_.emplace(std::make_shared<EventWriter>(storage_, options.summary_folder + "/eval",
                                                    EventWriterOptions{.flush_interval_s = 0}));
  }

  // Whether there was a new checkpoint.
  bool evaluate_newest();
  std::int64_t last() const { return last_.step(); }

 private:
  const LabelledData& data_;
  std::string folder_;
  Storage& storage_;
  LastEvaluated last_{storage_, folder_};
  int failures_ = 0;  // to read the newest, one after the other

  Graph graph_;
  Variable step_;
  Classifier model_;
  std::optional<Saver> saver_;
  std::optional<Session> session_;
  std::optional<EventLog> events_;
};

bool Evaluator::evaluate_newest() {
  constexpr int max_failures = 20;
  const auto newest = latest_step(storage_, folder_);
  if (!newest || *newest <= last_.step()) return false;
  try {
    const auto step = saver_->restore(*session_, storage_, folder_, true);
    if (!step) return false;
    const Score score = score_on(*session_, model_, data_.test_batches());
    failures_ = 0;
    if (events_)
      events_->write([&](EventWriter& to) {
        to.write(*step,
                 {{"accuracy", ScalarSummary{score.accuracy}}, {"loss", ScalarSummary{score.loss}}});
      });
    last_.set(*step);
    fmt::print("step {}: test accuracy {:.2f} %\n", *step, 100 * score.accuracy);
    std::fflush(stdout);
    return true;
  } catch (const Error& error) {
    // The chief may remove a checkpoint while it is read; there is a newer one then.
    if (error.code() != Code::not_found && error.code() != Code::data_loss &&
        error.code() != Code::disk_error)
      throw;
    if (latest_step(storage_, folder_) == newest && ++failures_ >= max_failures) throw;
    return false;
  }
}

}  // namespace

void evaluate_checkpoints(const LabelledData& data, const TrainOptions& options,
                          const std::atomic<bool>& interrupted) {
  Server server = Server::local();
  Runtime& runtime = *server.runtime();
  Evaluator evaluator(server, data, options);
  const auto fresh_patience = [&] { return Patience(runtime, "the evaluator", 0); };
  Patience patience = fresh_patience();
  while (!interrupted) {
    // The sign comes after the last checkpoint: asked first, it makes sure that none is missed.
    const auto completed = completed_step(runtime.storage(), options.checkpoint_folder);
    if (evaluator.evaluate_newest()) {
      patience = fresh_patience();
      continue;
    }
    if (completed.value_or(-1) >= options.train_steps && evaluator.last() >= *completed)
      return fmt::print("training is complete: step {} has been evaluated\n", *completed);
    patience.wait(fmt::format("for a checkpoint after step {} in {}", evaluator.last(),
                              options.checkpoint_folder));
  }
}

}  // namespace actorflow
