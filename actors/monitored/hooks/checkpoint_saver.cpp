#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <new>
#include <optional>

#include "actors/monitored/hooks.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/probes/point.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Point not_saved("a checkpoint not saved");

using Listeners = std::vector<std::shared_ptr<CheckpointListener>>;

class CheckpointSaver : public SessionHook {
 public:
  CheckpointSaver(const Saver& saver, Storage& storage, std::string folder, Every every,
                  Listeners listeners, double max_wait_secs, std::function<ExtraState()> extra)
      : saver_(saver),
        storage_(storage),
        folder_(std::move(folder)),
        timer_(every),
        listeners_(std::move(listeners)),
        max_wait_secs_(max_wait_secs),
        extra_(std::move(extra)) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }

  // What was restored need not be saved again.
  void after_create_session(RunContext& context) override {
    runtime_ = &context.runtime();
    const auto step = present_step(context.session());
    if (newest_saved() != step) return save_if_possible(context, step);
    timer_.done(step, context.now());
    saved_step_ = step;
  }

  RunArgs before_run(RunContext&) override { return {{global_step_}, {}}; }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    if (!is_due(results[0].scalar<std::int64_t>() + 1, context.now())) return;
    const auto step = present_step(context.session());
    if (is_due(step, context.now())) save_if_possible(context, step);
  }

  void variables_changed() override { saved_step_ = -1; }

  void end(Session& session) override {
    const auto step = present_step(session);
    if (saved_step_ != step)
      write_at_last(*runtime_, fmt::format("the last checkpoint, of step {},", step), max_wait_secs_,
                    [&] { save(session, step); });
  }

 private:
  std::int64_t present_step(Session& session) const {
    return session.run(global_step_).scalar<std::int64_t>();
  }

  // When its time has come. A save that has failed is tried again a few times before its next time, and
  // never without a pause.
  bool is_due(std::int64_t step, Clock::time_point now) const {
    constexpr int tries = 4;
    if (failures_ == 0) return timer_.is_due(step, now);
    return now >= next_try_ && (failures_ % tries != 0 || timer_.is_due(step, now));
  }

  // Nothing, too, if that cannot be seen now.
  std::optional<std::int64_t> newest_saved() const {
    try {
      return latest_step(storage_, folder_);
    } catch (const Error& error) {
      if (!is_of_storage(error.code())) throw;
      return std::nullopt;
    }
  }

  // What memory a saving lacks costs that saving, as a full disk does.
  SavedCheckpoint write(Session& session) const try {
    return saver_.save(session, storage_, folder_, saver_.keep(), extra_ ? extra_() : ExtraState());
  } catch (const std::bad_alloc&) {
    throw Error(Code::resource_exhausted,
                fmt::format("out of memory while saving a checkpoint to '{}'", folder_));
  }

  void save(Session& session, std::int64_t step) {
    for (const auto& listener : listeners_) listener->before_save(session, step);
    const SavedCheckpoint saved = write(session);
    saved_step_ = saved.global_step;  // others may have gone on since we asked
    failures_ = 0;
    if (saved.stood_still.count() == 0)
      spdlog::info("saved {}", saved.path);
    else
      spdlog::info("saved {}, for which all replicas stood still for {:.1f} ms", saved.path,
                   std::chrono::duration<double, std::milli>(saved.stood_still).count());
    for (const auto& listener : listeners_) listener->after_save(session, saved.global_step, saved.path);
  }

  void save_if_possible(RunContext& context, std::int64_t step) {
    timer_.done(step, context.now());
    try {
      save(context.session(), step);
    } catch (const Error& error) {
      if (!is_of_storage(error.code())) throw;
      not_saved.hit();
      next_try_ = context.now() + storage_pause(++failures_);
      spdlog::error("the checkpoint of step {} was not saved, training goes on: {}", step, error.what());
    }
  }

  const Saver& saver_;
  Storage& storage_;
  std::string folder_;
  StepTimer timer_;
  Listeners listeners_;
  double max_wait_secs_;
  std::function<ExtraState()> extra_;
  Runtime* runtime_ = nullptr;
  Variable global_step_;
  std::int64_t saved_step_ = -1;  // whose checkpoint has the present values
  int failures_ = 0;  // in a row
  Clock::time_point next_try_{};
};

}  // namespace

HookRef checkpoint_saver(const Saver& saver, Storage& storage, std::string folder, Every every,
                         Listeners listeners, double max_wait_secs, std::function<ExtraState()> extra) {
  return std::make_shared<CheckpointSaver>(saver, storage,
                                           expect_path("checkpoint_saver", std::move(folder)), every,
                                           std::move(listeners), max_wait_secs, std::move(extra));
}

}  // namespace actorflow
