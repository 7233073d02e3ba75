#include "actors/models/fit/callback.h"

#include "actors/models/fit/fit_callbacks.h"
#include "actors/models/model_engine.h"

namespace actorflow {
namespace {

// Beside the state of callbacks.
const std::string totals_prefix = "fit/totals/";

}  // namespace

// What was stopped within an epoch goes on from there another time.
void FitContext::save(const std::string& folder) {
  const bool is_whole_epoch = model_.engine_->progress.batches == 0;
  ExtraState state = callbacks_->state(is_whole_epoch);
  if (sums_of_epoch_ && !is_whole_epoch)
    for (const auto& [name, sum] : sums_of_epoch_()) state[totals_prefix + name] = sum;
  model_.engine_->save(folder, {}, state);
}

void FitContext::resume(const std::string& folder) {
  ModelEngine& engine = *model_.engine_;
  engine.load(folder, &resumed_state_.emplace());
  begin_at(engine.progress);
  resumed_sums_ = state_with(totals_prefix, *resumed_state_);
}

}  // namespace actorflow
