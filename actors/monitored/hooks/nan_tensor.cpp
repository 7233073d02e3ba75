#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "actors/monitored/hooks.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class NanTensor : public SessionHook {
 public:
  NanTensor(Output loss, OnNan on_nan) : loss_(loss), on_nan_(on_nan) {
    if (loss.dtype() != DType::float32)
      throw invalid_argument(fmt::format("nan_tensor watches float32 values, but '{}' is {}",
                                         loss.name(), loss.type().to_string()));
  }

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }
  RunArgs before_run(RunContext&) override { return {{loss_, global_step_}, {}}; }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    const auto values = results[0].values<float>();
    const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
    if (bad == values.end()) return;
    const std::string what =
        fmt::format("'{}' is {} in the step after global step {}; lower the learning rate", loss_.name(),
                    *bad, results[1].scalar<std::int64_t>());
    if (on_nan_ == OnNan::fail) throw Error(Code::not_finite, what);
    spdlog::error("{}; training stops", what);
    context.request_stop();
  }

 private:
  Output loss_;
  OnNan on_nan_;
  Variable global_step_;
};

}  // namespace

HookRef nan_tensor(Output loss, OnNan on_nan) { return std::make_shared<NanTensor>(loss, on_nan); }

}  // namespace actorflow
