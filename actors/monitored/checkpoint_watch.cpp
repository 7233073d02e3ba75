#include "actors/monitored/checkpoint_watch.h"

#include <fmt/format.h>

#include <utility>

#include "actors/monitored/patience.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Looks in a row, before what a disk says is believed.
constexpr int max_failures = 20;

}  // namespace

CheckpointWatch::CheckpointWatch(Storage& storage, std::string folder, CheckpointHandler handler,
                                 std::int64_t last_step)
    : storage_(storage),
      folder_(std::move(folder)),
      handler_(std::move(handler)),
      last_step_(last_step) {}

void CheckpointWatch::find_newest() {
  newest_ = -1;
  try {
    newest_ = latest_step(storage_, folder_).value_or(-1);
    folder_failures_ = 0;
  } catch (const Error& error) {
    if (!is_of_storage(error.code()) || ++folder_failures_ >= max_failures) throw;
  }
}

bool CheckpointWatch::look() {
  find_newest();
  if (newest_ <= last_step_) return false;
  std::optional<std::int64_t> step;
  std::string damage = "it is not whole";
  try {
    step = handler_.load();
  } catch (const Error& error) {
    if (error.code() != Code::data_loss && error.code() != Code::not_found &&
        !is_of_storage(error.code()))
      throw;
    damage = error.what();
  }
  if (step && *step > last_step_) {
    failures_ = 0;
    handler_.handle(*step);
    last_step_ = *step;
    return true;
  }
  failures_ = std::exchange(unreadable_, newest_) == newest_ ? failures_ + 1 : 1;
  if (failures_ < max_failures) return false;
  find_newest();
  if (newest_ == unreadable_)
    throw Error(
        Code::data_loss,
        fmt::format("the checkpoint of step {} in {} cannot be read, and there is no newer one: {}",
                    unreadable_, folder_, damage));
  return false;
}

bool CheckpointWatch::is_over(const WatchEnd& end, bool marked) const {
  if (newest_ < 0 || newest_ > last_step_) return false;
  return marked || (!end.only_mark && newest_ >= end.step);
}

bool CheckpointWatch::run(Runtime& runtime, const WatchEnd& end, const std::function<bool()>& stopped) {
  const auto fresh_patience = [&] { return Patience(runtime, "the evaluator", 0); };
  Patience patience = fresh_patience();
  EndMark end_mark(storage_, folder_);
  while (!stopped()) {
    // The mark comes after the last checkpoint: asked for first, it makes sure that none is missed.
    const bool marked = !end_mark.why_complete(end.step).empty();
    if (look()) {
      patience = fresh_patience();
      continue;
    }
    if (is_over(end, marked)) return true;
    patience.wait(fmt::format("for a checkpoint after step {} in {}", last_step_, folder_));
  }
  return false;
}

}  // namespace actorflow
