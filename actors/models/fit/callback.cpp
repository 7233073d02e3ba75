#include "actors/models/fit/callback.h"

#include "actors/models/fit/fit_callbacks.h"
#include "actors/models/model_engine.h"

namespace actorflow {

// What was stopped within an epoch goes on from there another time.
void FitContext::save(const std::string& folder) {
  const bool is_whole_epoch = model_.engine_->progress.batches == 0;
  model_.engine_->save(folder, {}, callbacks_->state(is_whole_epoch));
}

void FitContext::resume(const std::string& folder) {
  ModelEngine& engine = *model_.engine_;
  engine.load(folder, &resumed_state_.emplace());
  begin_at(engine.progress);
}

}  // namespace actorflow
