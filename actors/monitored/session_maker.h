// Makes sessions whose model is ready: the start of a replica, and its return after a failure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/epoch_fence.h"
#include "actors/monitored/hook.h"
#include "actors/monitored/monitored_session.h"
#include "actors/monitored/patience.h"
#include "actors/monitored/training_end.h"

namespace actorflow {

class SessionMaker {
 public:
  // Adds its nodes to the graph. REQUIRES: hooks have added theirs; everything outlives this.
  SessionMaker(Server& server, const Scaffold& scaffold, const MonitoredOptions& options);

  // Blocks until there is a session with a ready model. Returns nothing if the server's job is over, or
  // training was complete before it began. Throws deadline_exceeded after max_wait_secs, naming the task
  // for which it waited.
  std::shared_ptr<Session> make();

  // For any replica: from here on no earlier step of the job changes anything, so every replica makes a
  // new session, for which the chief restores the newest checkpoint.
  void demand_restore(Session& session) const { fence_->close(session); }

  // Whether the chief has not given the model new values since the session was made.
  bool is_current(Session& session) const { return fence_->is_current(session); }

  const Saver* saver() const { return saver_; }
  Storage& storage() const { return storage_; }
  // The reason why there is nothing left to do, or "".
  const std::string& over() const { return over_; }

 private:
  bool is_over();
  void wait(Patience& patience, const std::string& for_what);
  void prepare(Session& session);
  bool may_keep_values(Session& session, const std::vector<std::string>& missing) const;
  bool has_whole_slots(Session& session) const;
  void close_epoch(Session& session);
  bool await_chief(Session& session, Patience& patience);
  bool await_ready(Session& session, Patience& patience);
  std::optional<std::int64_t> restore(Session& session);
  void give_values(Session& session, const std::vector<std::string>& missing);
  std::vector<std::string> missing_variables(Session& session) const;
  std::string describe(const std::vector<std::string>& missing) const;

  Server& server_;
  const Scaffold& scaffold_;
  const MonitoredOptions& options_;
  Storage& storage_;
  EndMark end_mark_;
  std::vector<Variable> shared_;
  std::vector<Output> probes_;  // bool scalars: which of the shared variables have a value
  Output whole_slots_;          // bool scalar; empty: no replica has only a part of them
  std::unique_ptr<EpochFence> fence_;
  std::unique_ptr<Saver> own_saver_;
  const Saver* saver_ = nullptr;
  std::string over_;
  bool had_session_ = false;
};

}  // namespace actorflow
