// A replica's program as a hook of its session. For running_replica.cpp only.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "actors/monitored/hook.h"

namespace actorflow {

// Calls `begin` in each new session with the global step and the value of `first_step`, an int64 scalar
// (none: 0), and feeds what `next` returns.
class ProgramHook final : public SessionHook {
 public:
  using Begin = std::function<void(Session&, std::int64_t global_step, std::int64_t first_step)>;

  ProgramHook(Begin begin, std::function<Feeds()> next, Output first_step)
      : begin_(std::move(begin)), next_(std::move(next)) {
    if (first_step) fetches_.push_back(first_step);
  }

  void begin(Scaffold& scaffold) override {
    fetches_.insert(fetches_.begin(), scaffold.global_step);
  }
  void after_create_session(RunContext& context) override {
    const auto values = context.session().run(fetches_);
    const auto first_step = values.size() > 1 ? values[1].scalar<std::int64_t>() : 0;
    begin_(context.session(), values[0].scalar<std::int64_t>(), first_step);
  }
  RunArgs before_run(RunContext&) override { return {{}, next_()}; }

 private:
  Begin begin_;
  std::function<Feeds()> next_;
  std::vector<Output> fetches_;
};

}  // namespace actorflow
