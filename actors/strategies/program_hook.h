// A replica's program as a hook of its session. For replica_run.cpp only.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "actors/monitored/hook.h"

namespace actorflow {

// Calls `begin` with the global step in each new session, and feeds what `next` returns.
class ProgramHook final : public SessionHook {
 public:
  using Begin = std::function<void(Session&, std::int64_t)>;

  ProgramHook(Begin begin, std::function<Feeds()> next)
      : begin_(std::move(begin)), next_(std::move(next)) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }
  void after_create_session(RunContext& context) override {
    begin_(context.session(), context.session().run(global_step_).scalar<std::int64_t>());
  }
  RunArgs before_run(RunContext&) override { return {{}, next_()}; }

 private:
  Begin begin_;
  std::function<Feeds()> next_;
  Variable global_step_;
};

}  // namespace actorflow
