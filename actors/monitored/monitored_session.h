// A session that trains through failures, as distributed TensorFlow's MonitoredTrainingSession.
//
//   MonitoredOptions options;
//   options.checkpoint_dir = dir;
//   options.hooks = {stop_at_step(10'000), nan_tensor(loss)};
//   MonitoredSession session(server, graph, options);
//   while (!session.should_stop()) session.run(train);
//   session.close();
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/checkpoint/saver.h"
#include "actors/events/summaries.h"
#include "actors/monitored/hook.h"
#include "actors/monitored/step_timer.h"
#include "actors/runtime/storage.h"
#include "actors/task/server.h"

namespace actorflow {

// aborted or unavailable: a task is lost or has restarted, and a new session may work.
inline bool is_preemption(Code code) { return code == Code::aborted || code == Code::unavailable; }

// README.md has the names of these in MonitoredTrainingSession and in Supervisor.
struct MonitoredOptions {
  // The chief sets the values of the shared variables; the others wait for them.
  bool is_chief = true;
  TaskName chief{};  // named by the others while they wait; unnamed: "the chief"
  // Every task has all variables itself, and `local_init` gives the others the chief's. After the loss
  // of another task the chief goes on with the values that it has; it restores at the start, where a
  // value is missing, and when a replica demands it. REQUIRES: `chief` is named.
  bool replicated = false;
  // The variables of a replicated chief have their values before the session is made: none is restored
  // or initialised then.
  bool has_values = false;
  // The folder in which the chief saves, and from which it restores; "" = none. If all tasks see it,
  // late ones learn there that training is complete.
  std::string checkpoint_dir{};
  // Fails if the newest checkpoint is damaged. Otherwise the chief logs that, and falls back to the
  // newest whole one.
  bool strict_restore = false;
  Hooks hooks{};             // of every replica
  Hooks chief_only_hooks{};  // called before the others

  // The chief's tasks besides its hooks.
  Every save_checkpoint{0, 600};
  std::int64_t log_step_count_steps = 100;  // 0 = not
  // The folder in which the chief writes event files for TensorBoard; "" = none.
  std::string summary_dir{};
  // The summaries that it writes there besides the steps per second; must outlive the session.
  const Summaries* summaries = nullptr;
  Every save_summaries{.steps = 100};

  // The longest wait for the chief or for lost tasks; 0 = no limit. Also for a disk that refuses the
  // last checkpoint; 0 = no wait.
  double max_wait_secs = 7200;
  // The number of times that a loss or gradient of this replica that is not finite takes the whole job
  // back to the newest checkpoint, before training fails. Requires a checkpoint_dir at the chief.
  int max_rollbacks = 0;
  // The global step at which training is complete; 0 = hooks decide. A task that starts when the folder
  // says that this is over (training_end.h, which run_replica() writes) leaves.
  std::int64_t last_step = 0;
  // The global step from which `last_step`, and the mark in the folder, are counted; none: 0. Asked for
  // when there is a session, after the `hooks`.
  std::function<std::int64_t()> first_step{};

  // The model, if the graph alone does not define it.
  Output init_op{};                         // none: the initializers of the shared variables
  Feeds init_feeds{};                       // of init_op
  std::function<void(Session&)> init_fn{};  // called by the chief after init_op
  // Called by the others for each new session, once the chief is ready, and perhaps again: for what must
  // hold before the tasks do anything together. False: that is not known yet, ask again. What it throws
  // counts as thrown by a step.
  std::function<bool()> on_chief_ready{};
  std::vector<Output> local_init{};  // run in each new session, before the first step
  // Booleans that are evaluated after that; the session waits until all are true. None: the model is
  // ready when every shared variable has a value.
  Output ready_op{};
  const Saver* saver = nullptr;  // none: one of the shared variables
  // What the chief saves beside the variables: asked for at each save. `restore_extra` is called with it
  // when a checkpoint has been restored, before the hooks' after_create_session().
  std::function<ExtraState()> save_extra{};
  std::function<void(ExtraState)> restore_extra{};
  int max_to_keep = 5;           // checkpoints, of the session's own saver
  // SaverOptions::longest_hold_ms of that saver: longer than a step of the slowest replica.
  std::int64_t longest_hold_ms = 10'000;
  Storage* storage = nullptr;  // none: real files
  std::int64_t connect_timeout_ms = 60'000;
  SessionOptions session{};  // of each session that is made
};

class MonitoredSession;

// The context of one step in MonitoredSession::run_step.
class StepContext {
 public:
  // Runs a step with the hooks around it.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {},
                          const std::vector<Output>& targets = {});
  Tensor run(Output fetch, const Feeds& feeds = {}) { return run(std::vector{fetch}, feeds)[0]; }
  // The session, for steps without hooks.
  Session& session() const { return session_; }
  void request_stop() const;

 private:
  friend class MonitoredSession;
  StepContext(MonitoredSession& monitored, Session& session)
      : monitored_(monitored), session_(session) {}
  MonitoredSession& monitored_;
  Session& session_;
};

// Treats aborted and unavailable as the loss of a task: it closes the session and makes a new one, the
// chief restores the newest checkpoint, or runs the initialiser if there is none and a variable has no
// value, the others wait for it, and the step is run again. not_finite leads to the same, up to
// max_rollbacks times. resource_exhausted, at another replica than the chief, is tried three times more,
// after 1, 2 and 4 s. out_of_range is the end of the input: training ends cleanly. Every other error is
// thrown, and hooks' end() is not called. For one thread, except should_stop() and request_stop().
class MonitoredSession {
 public:
  // Calls the hooks' begin(), which may add to the graph, makes the first session and waits until the
  // model is ready. Throws what Session throws, deadline_exceeded after max_wait_secs, naming the task
  // for which it waited, and, at the chief, failed_precondition or permission_denied for a
  // checkpoint_dir that is a file or cannot be written. Graph and server must outlive this.
  MonitoredSession(Server& server, Graph& graph, MonitoredOptions options = {});
  // A session in a local server of its own.
  explicit MonitoredSession(Graph& graph, MonitoredOptions options = {});
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;
  // Does not call hooks' end(); close() does.
  ~MonitoredSession();

  // True if a hook or the program has asked for a stop, the input has ended, or the server's job is
  // over.
  bool should_stop() const;
  void request_stop();

  // Runs a step, with the hooks around it, until it succeeds. Returns the fetches; nothing if training
  // is over and no step was run.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {},
                          const std::vector<Output>& targets = {});
  std::vector<Tensor> run(Output fetch, const Feeds& feeds = {}) {
    return run(std::vector{fetch}, feeds);
  }
  // The same for a step that `body` runs. `body` is called again after a recovery, so that it feeds what
  // is next then. False if training is over and the step was not run.
  bool run_step(const std::function<void(StepContext&)>& body);

  // For a program that has changed variables since the last step: the checkpoint that close() saves has
  // these values, also where that step has one already.
  void variables_changed();
  // Ends the session: calls hooks' end(), unless a step has failed or the server's job is over. The loss
  // of a task meanwhile is an error. Throws the error of the job if another task has reported one.
  void close();

  // For a replica that has reached the end, before the job is over: whether it must go on training,
  // because the chief has come back and restored an earlier step. Then should_stop() is false again.
  bool revive();

  // The present session, for steps without hooks, whose errors are thrown. Throws failed_precondition if
  // training was over before there was a session.
  Session& session();
  // The reason why training is over if neither a hook nor the program has asked for it; else "".
  std::string why_over() const;

 private:
  friend class StepContext;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
