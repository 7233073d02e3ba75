// The implementation of a Server: the actors of its task, and its port. For this folder only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/task_context.h"
#include "actors/core/task_recorder.h"
#include "actors/input/served_inputs.h"
#include "actors/named/named_actors.h"
#include "actors/task/job_state.h"
#include "actors/task/peer_book.h"
#include "actors/task/server.h"

namespace actorflow {

struct Server::Impl {
  // Where the other tasks are: in this process, anywhere behind a port, or nowhere.
  enum class Peers { in_process, by_port, none };
  Impl(ServerOptions server_options, Peers peers);
  ~Impl();

  void spawn_actors();
  void await_heard();
  void end_actors();
  void let_go_of_task();
  MasterHandler master() const;
  void listen(const std::string& address);
  template <class Action>
  void or_end(const char* what, const TaskIdentity& from, Action action);
  void receive(const TaskIdentity& from, Message message);
  Status admit(const TaskIdentity& from);
  bool meet(const Sender& sender);
  void on_heartbeat(const Sender& from);
  void on_replaced(const Status& reason);
  void peer_gone(const TaskIdentity& from);
  void end_job(const Shutdown& message);
  void end_waits(const std::string& reason);
  std::vector<caf::actor> own_actors() const;
  // For threads of the program.
  void tell_task(TaskId to, Message message);
  void attend(TaskId other);
  caf::actor make_peer(TaskId other, std::shared_ptr<PeerSigns> signs);

  ServerOptions options;
  std::shared_ptr<Runtime> runtime;
  Network* network = nullptr;  // none for a task that is alone
  std::unique_ptr<Device> sending_device;
  bool all_end = false;                  // the other tasks end with this one
  std::atomic<bool> told_of_end{false};  // another task has said that the job is over
  // Called when the context is no longer used.
  std::shared_ptr<std::function<void()>> task_gone = std::make_shared<std::function<void()>>();
  std::shared_ptr<TaskContext> task{new TaskContext, [gone = task_gone](TaskContext* context) {
                                      delete context;
                                      if (*gone) (*gone)();
                                    }};
  std::shared_ptr<TaskRecorder> recorder = std::make_shared<TaskRecorder>(*task);
  // The incarnations of another task that have spoken; the network thread's.
  struct Known {
    std::uint64_t present = 0;
    std::set<std::uint64_t> past;
  };
  std::vector<Known> known;  // by TaskId
  std::optional<PeerBook> peers;
  JobState job;
  std::string target;
  ServedInputs inputs;
  NamedActors named;
  // Declared last, destroyed first, so that nothing arrives at actors that have ended.
  std::unique_ptr<Listener> listener;
};

}  // namespace actorflow
