// How the actors of a job reach each other, on whichever task they are.
#pragma once

#include <atomic>
#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/send.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/jobs/messages/job_messages.h"
#include "actors/named/message_type.h"

namespace actorflow {

// Thread-safe once its actors are set.
class JobMail {
 public:
  // `task`: the task of the cluster; null for a job that runs in this process only.
  explicit JobMail(TaskRef task) : task_(std::move(task)) {}

  static constexpr const char* coordinator_name = "job/coordinator";
  static constexpr const char* agent_name = "job/agent";
  static constexpr const char* slices_name = "job/slices";
  static constexpr int coordinator_task = 0;  // the first of the cluster

  int own() const { return task_ ? static_cast<int>(task_->own) : 0; }
  int tasks() const { return task_ ? static_cast<int>(task_->tasks.size()) : 1; }
  bool coordinates() const { return own() == coordinator_task; }
  bool on_this_machine(int task) const {
    return !task_ || task_->on_this_machine(static_cast<TaskId>(task));
  }
  std::string name_of(int task) const;
  const TaskRef& task() const { return task_; }

  // The number of this run of the job, which tells it from others; 0: none has begun. belongs() refuses
  // messages of other runs.
  std::uint64_t run() const { return run_; }
  void set_run(std::uint64_t run) { run_ = run; }
  // How slices are compressed on their way to other machines, as the coordinator says.
  Compression shuffle_compression() const { return shuffle_compression_; }
  void set_shuffle_compression(Compression kind) { shuffle_compression_ = kind; }

  template <class M>
  void to_coordinator(M message) const {
    send(coordinator_task, coordinator, coordinator_name, std::move(message), {});
  }
  template <class M>
  void to_agent(int task, M message, Tensor payload = {}) const {
    send(task, agent, agent_name, std::move(message), std::move(payload));
  }
  void to_slices(int task, FetchSlices message) const {
    send(task, slices, slices_name, std::move(message), {});
  }
  // Refuses an agent's request for slices that no actor here can answer, as the switchboard does where
  // there is no such actor yet.
  void refuse_slices(int task, const ActorMessage& request, Status why) const;

  // The job's actors on this task. Only the first task has the coordinator and, if there is one, the
  // journal.
  caf::actor coordinator, agent, slices, journal;

 private:
  template <class M>
  void send(int task, const caf::actor& here, const char* name, M message, Tensor payload) const {
    if (task == own())
      caf::anon_send(here, sender(), std::move(message));
    else
      post(task, name, message_type<M>(), to_payload(message), std::move(payload));
  }
  Sender sender() const { return task_ ? task_->as_sender() : Sender{TaskId{0}, 1}; }
  void post(int task, std::string_view to, std::string type, Tensor content, Tensor payload) const;

  const TaskRef task_;
  std::atomic<std::uint64_t> run_{0};
  std::atomic<Compression> shuffle_compression_{Compression::none};
};
using JobMailRef = std::shared_ptr<JobMail>;

template <class M>
bool says(const ActorMessage& letter) {
  return letter.type == message_type<M>();
}

// Calls handler(M) for the message, whichever of Ms it is; false if it is none of them. Throws data_loss
// if it cannot be decoded.
template <class... Ms, class Handler>
bool take_letter(const ActorMessage& letter, Handler&& handler) {
  const auto take = [&]<class M>(std::type_identity<M>) {
    if (!says<M>(letter)) return false;
    handler(from_payload<M>(letter.content));
    return true;
  };
  return (take(std::type_identity<Ms>()) || ...);
}

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JoinJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JobIs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::StageReady)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::RunPart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CancelPart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::PartRan)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::PartNotRun)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AcceptPart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::PartMade)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AgentProgress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::StageDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JobEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JobLeft)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::FetchSlices)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::SlicesAre)
