#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "actors/monitored/hooks.h"
#include "actors/monitored/patience.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/point.h"
#include "dataflow/error.h"

namespace actorflow {
namespace {

Point not_saved("a checkpoint not saved");

using Listeners = std::vector<std::shared_ptr<CheckpointListener>>;

class CheckpointSaver : public SessionHook {
 public:
  CheckpointSaver(const Saver& saver, Storage& storage, std::string folder, Every every,
                  Listeners listeners, double max_wait_secs)
      : saver_(saver),
        storage_(storage),
        folder_(std::move(folder)),
        timer_(every),
        listeners_(std::move(listeners)),
        max_wait_secs_(max_wait_secs) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }

  // What was restored need not be saved again.
  void after_create_session(RunContext& context) override {
    runtime_ = &context.runtime();
    const auto step = present_step(context.session());
    if (latest_step(storage_, folder_) != step) return save_if_possible(context, step);
    timer_.done(step, context.now());
    saved_step_ = step;
  }

  RunArgs before_run(RunContext&) override { return {{global_step_}, {}}; }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    if (!timer_.is_due(results[0].scalar<std::int64_t>() + 1, context.now())) return;
    const auto step = present_step(context.session());
    if (timer_.is_due(step, context.now())) save_if_possible(context, step);
  }

  void end(Session& session) override {
    const auto step = present_step(session);
    if (saved_step_ != step) save_at_last(session, step);
  }

 private:
  std::int64_t present_step(Session& session) const {
    return session.run(global_step_).scalar<std::int64_t>();
  }

  void save(Session& session, std::int64_t step) {
    for (const auto& listener : listeners_) listener->before_save(session, step);
    const std::string path = saver_.save(session, storage_, folder_);
    saved_step_ = step;
    spdlog::info("saved {}", path);
    for (const auto& listener : listeners_) listener->after_save(session, step, path);
  }

  void save_if_possible(RunContext& context, std::int64_t step) {
    timer_.done(step, context.now());
    try {
      save(context.session(), step);
    } catch (const Error& error) {
      if (!is_of_storage(error.code())) throw;
      not_saved.hit();
      spdlog::error("the checkpoint of step {} was not saved, training goes on: {}", step, error.what());
    }
  }

  // Nothing is trained after this: room on the disk is worth waiting for.
  void save_at_last(Session& session, std::int64_t step) {
    Patience patience(*runtime_, "the last checkpoint", max_wait_secs_);
    while (true) try {
        return save(session, step);
      } catch (const Error& error) {
        if (error.code() != Code::resource_exhausted) throw;
        patience.wait(fmt::format("for room on the disk: {}", error.what()));
        runtime_->sleep(std::chrono::seconds(1));  // each attempt writes on all tasks
      }
  }

  const Saver& saver_;
  Storage& storage_;
  std::string folder_;
  StepTimer timer_;
  Listeners listeners_;
  double max_wait_secs_;
  Runtime* runtime_ = nullptr;
  Variable global_step_;
  std::int64_t saved_step_ = -1;
};

}  // namespace

HookRef checkpoint_saver(const Saver& saver, Storage& storage, std::string folder, Every every,
                         Listeners listeners, double max_wait_secs) {
  return std::make_shared<CheckpointSaver>(saver, storage, std::move(folder), every,
                                           std::move(listeners), max_wait_secs);
}

}  // namespace actorflow
