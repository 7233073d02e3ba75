#include "actors/models/fit/callback.h"

#include "actors/models/fit/fit_callbacks.h"
#include "actors/models/model_engine.h"

namespace actorflow {

void FitContext::save(const std::string& folder) {
  model_.engine_->save(folder, {}, callbacks_->state());
}

void FitContext::resume(const std::string& folder) {
  ModelEngine& engine = *model_.engine_;
  engine.load(folder, &resumed_state_.emplace());
  begin_at(engine.progress);
}

}  // namespace actorflow
