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

// aborted or unavailable: a task is lost or has restarted; a new session may do.
inline bool is_preemption(Code code) { return code == Code::aborted || code == Code::unavailable; }

// README.md has the names of these in MonitoredTrainingSession and in Supervisor.
struct MonitoredOptions {
  // The chief gives the shared variables their values; the others wait until they have one.
  bool is_chief = true;
  TaskName chief{};  // whom the others say that they wait for; unnamed: "the chief"
  // Where the chief saves, and restores from; "" = nowhere. A folder that all tasks see lets those that
  // come late learn that training is complete.
  std::string checkpoint_dir{};
  // Fail where the newest checkpoint is damaged. Else the chief says so, and falls back to the newest one that
  // is whole.
  bool strict_restore = false;
  Hooks hooks{};             // of every replica
  Hooks chief_only_hooks{};  // called before the others

  // What the chief does besides its hooks.
  Every save_checkpoint{0, 600};
  std::int64_t log_step_count_steps = 100;  // 0 = not
  // Where the chief writes event files for TensorBoard; "" = nowhere.
  std::string summary_dir{};
  // What it writes there besides the steps per second; must outlive the session.
  const Summaries* summaries = nullptr;
  Every save_summaries{.steps = 100};

  // How long to wait for the chief, or for tasks that are lost; 0 = as long as it takes. Also for a disk that
  // does not take the last checkpoint; 0 = not at all.
  double max_wait_secs = 7200;
  // How often a loss or a gradient of this replica that is not finite takes the job, all replicas
  // together, back to the newest checkpoint, before training fails. The chief needs a checkpoint_dir for
  // that.
  int max_rollbacks = 0;
  // The global step at which training is complete; 0 = hooks say. A task that comes later leaves.
  std::int64_t last_step = 0;

  // The model, where it is not to be found in the graph by itself.
  Output init_op{};                           // none: the initializers of the shared variables
  Feeds init_feeds{};                         // of init_op
  std::function<void(Session&)> init_fn{};    // called by the chief after init_op
  std::vector<Output> local_init{};           // run in each new session, before the first step
  // Booleans, run after that: a session whose model is not ready by them, too, waits until all are true.
  // None: it is ready when every shared variable has a value.
  Output ready_op{};
  const Saver* saver = nullptr;      // none: one of the shared variables
  int max_to_keep = 5;               // checkpoints, of the session's own saver
  Storage* storage = nullptr;        // none: real files
  std::int64_t connect_timeout_ms = 60'000;
  SessionOptions session{};  // of each session that is made
};

class MonitoredSession;

// One step, within MonitoredSession::run_step.
class StepContext {
 public:
  // A step with the hooks around it.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {},
                          const std::vector<Output>& targets = {});
  Tensor run(Output fetch, const Feeds& feeds = {}) { return run(std::vector{fetch}, feeds)[0]; }
  // For steps without hooks.
  Session& session() const { return session_; }
  void request_stop() const;

 private:
  friend class MonitoredSession;
  StepContext(MonitoredSession& monitored, Session& session)
      : monitored_(monitored), session_(session) {}
  MonitoredSession& monitored_;
  Session& session_;
};

// Aborted and unavailable count as the loss of a task: the session is closed and made anew, the chief
// restores the newest checkpoint, or runs the initialiser where there is none and a variable has no
// value, the others wait for it, and the step is run again. not_finite leads to the same, as often as
// max_rollbacks says. out_of_range is the end of the input: training ends cleanly. Every other error
// comes out, and hooks' end() is not called. For one thread, but for should_stop() and request_stop().
class MonitoredSession {
 public:
  // Calls the hooks' begin(), which may add to the graph, makes the first session and waits until the
  // model is ready. Throws what Session throws, deadline_exceeded after max_wait_secs, naming whom it waited
  // for, and, at the chief, failed_precondition or permission_denied for a checkpoint_dir that is a file or
  // cannot be written. Graph and server must outlive this.
  MonitoredSession(Server& server, Graph& graph, MonitoredOptions options = {});
  // In a local server of its own.
  explicit MonitoredSession(Graph& graph, MonitoredOptions options = {});
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;
  // Without close() before, hooks' end() is not called.
  ~MonitoredSession();

  // A hook or the program has asked for it, the input has ended, or the server's job is over.
  bool should_stop() const;
  void request_stop();

  // Runs a step, with the hooks around it, as often as it takes. Returns the fetches; nothing if
  // training is over and no step was made.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {},
                          const std::vector<Output>& targets = {});
  std::vector<Tensor> run(Output fetch, const Feeds& feeds = {}) {
    return run(std::vector{fetch}, feeds);
  }
  // The same for a step that `body` makes: it is called once more after a recovery, so that it feeds
  // what is next then. False if training is over and the step was not made.
  bool run_step(const std::function<void(StepContext&)>& body);

  // The end: calls hooks' end(), unless a step has failed or the server's job is over. A task that is
  // lost meanwhile is an error. Throws why the job has failed, if another task has said so.
  void close();

  // For a replica that has reached the end, before the job is over: whether it must train on, because
  // the chief has come back and restored an earlier step. Then should_stop() is false again.
  bool revive();

  // The present session, for steps without hooks, whose errors come out. Throws failed_precondition if
  // training was over before there was one.
  Session& session();
  // Why training is over, where that is not for a hook's or the program's asking; else "".
  std::string why_over() const;

 private:
  friend class StepContext;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
