#include "apps/training/evaluate.h"

#include <fmt/format.h>

#include "actors/checkpoint/number_file.h"
#include "actors/checkpoint/saver.h"
#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "actors/monitored/checkpoint_watch.h"
#include "actors/monitored/event_log.h"
#include "actors/runtime/runtime.h"
#include "actors/task/server.h"
#include "apps/training/reports/accuracy.h"
#include "dataflow/train/replicate.h"

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

  // The newest checkpoint's step.
  std::optional<std::int64_t> load() { return saver_->restore(*session_, storage_, folder_, true); }
  void evaluate(std::int64_t step);
  std::int64_t last() const { return last_.step(); }

 private:
  const LabelledData& data_;
  std::string folder_;
  Storage& storage_;
  LastEvaluated last_{storage_, folder_};

  Graph graph_;
  Variable step_;
  Classifier model_;
  std::optional<Saver> saver_;
  std::optional<Session> session_;
  std::optional<EventLog> events_;
};

void Evaluator::evaluate(std::int64_t step) {
  const Score score = score_on(*session_, model_, data_.test_batches());
  if (events_)
    events_->write([&](EventWriter& to) {
      to.write(step, {{"accuracy", ScalarSummary{score.accuracy}}, {"loss", ScalarSummary{score.loss}}});
    });
  last_.set(step);
  fmt::print("step {}: test accuracy {:.2f} %\n", step, 100 * score.accuracy);
  std::fflush(stdout);
}

}  // namespace

void evaluate_checkpoints(const LabelledData& data, const TrainOptions& options,
                          const std::atomic<bool>& interrupted) {
  Server server = Server::local();
  Runtime& runtime = *server.runtime();
  Evaluator evaluator(server, data, options);
  CheckpointWatch watch(runtime.storage(), options.checkpoint_folder,
                        {.load = [&] { return evaluator.load(); },
                         .handle = [&](std::int64_t step) { evaluator.evaluate(step); }},
                        evaluator.last());
  if (watch.run(runtime, {.step = options.train_steps, .only_mark = true},
                [&] { return interrupted.load(); }))
    fmt::print("training is complete: step {} has been evaluated\n", watch.last_step());
}

}  // namespace actorflow
