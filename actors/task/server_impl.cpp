#include "actors/task/server_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include "actors/checkpoint/files/io_actor.h"
#include "actors/collectives/engine/collectives.h"
#include "actors/core/ask.h"
#include "actors/core/await_end.h"
#include "actors/master/incarnations.h"
#include "actors/master/master.h"
#include "actors/named/switchboard.h"
#include "actors/queues/queue_shard.h"
#include "actors/runtime/scheduler.h"
#include "actors/runtime/thread_unit.h"
#include "actors/shard/parameter_shard.h"
#include "actors/task/local_servers.h"
#include "actors/training/coordinator.h"
#include "actors/worker/rendezvous.h"
#include "actors/worker/worker.h"
#include "dataflow/values/bounded_wait.h"

namespace actorflow {
namespace {

constexpr std::string_view scheme = "actorflow://";

std::vector<Device*> devices_of_this_process() {
  std::vector<Device*> devices{&cpu_device()};
  for (int i = 0; i < cuda_device_count(); ++i) devices.push_back(&cuda_device(i));
  return devices;
}

}  // namespace

Server::Impl::Impl(ServerOptions server_options, Peers where)
    : options(std::move(server_options)), runtime(options.runtime), job(*runtime) {
  options.connect_timeout_ms = bounded_wait(options.connect_timeout_ms);
  options.heartbeat_timeout_ms = bounded_wait(options.heartbeat_timeout_ms);
  const TaskName name{options.job, options.task};
  const std::string& address = options.cluster.address(name);  // throws for a task outside the cluster
  task->tasks = options.cluster.all_tasks();
  task->own = task->id_of(name);
  known.resize(task->tasks.size());
  task->self = {name, make_incarnation(options.start_number, runtime->random())};
  task->devices = devices_of_this_process();
  task->ops = &runtime->library().ops();
  task->optimizers = &runtime->library().optimizers();
  task->team = &runtime->team();
  task->clock = &runtime->clock();
  task->random = &runtime->random();
  task->storage = &runtime->storage();
  if (where != Peers::none)
    network = where == Peers::by_port ? &runtime->rpc_network() : &runtime->local_network();
  if (where == Peers::by_port) {
    sending_device = make_cpu_device(network->allocator(), large_message_bytes);
    for (const auto& other : task->tasks)
      task->hosts.push_back(HostPort::parse(options.cluster.address(other)).host);
  }
  task->sending_device = sending_device ? sending_device.get() : &cpu_device();
  spawn_actors();
  try {
    if (network) listen(address);
  } catch (...) {
    insist([this] { end_actors(); });
    throw;
  }
  static std::atomic<int> count{0};
  target = where == Peers::by_port ? std::string(scheme) + listener->address()
                                   : "local://" + std::to_string(++count);
}

MasterHandler Server::Impl::master() const {
  return [master = task->master](MasterRequest request, MasterReplyFn reply) {
    caf::anon_send(master, MasterCall{std::move(request), std::move(reply)});
  };
}

void Server::Impl::listen(const std::string& address) {
  Inbox inbox{[this](const TaskIdentity& from, Message message) {
                or_end("a message", from, [&] { receive(from, std::move(message)); });
              },
              [this](const TaskIdentity& from) { or_end("the loss", from, [&] { peer_gone(from); }); },
              master(), [this](const TaskIdentity& from) { return admit(from); },
              [this](const TaskIdentity& from) { peers->signs(task->id_of(from.name)).heard = true; }};
  listener = network->listen(address, task->self, std::move(inbox));
}

// The actors would wait for ever for a message that is lost on its way to them: the task ends instead.
template <class Action>
void Server::Impl::or_end(const char* what, const TaskIdentity& from, Action action) {
  try {
    action();
  } catch (...) {
    TaskScheduler::of(runtime->system()).end_task_by_exception([&] {
      return fmt::format("{} could not take {} of {}", task->self.name.to_string(), what,
                         from.name.to_string());
    });
  }
}

void Server::Impl::spawn_actors() {
  const SystemVisit visit;
  auto& system = runtime->system();
  const TaskRef ref = task;
  task->master = system.spawn(master_actor, ref);
  task->worker = system.spawn(worker_actor, ref, recorder);
  task->rendezvous = system.spawn(rendezvous_actor, ref);
  task->shard = system.spawn(shard_actor, ref);
  task->coordinator = system.spawn(coordinator_actor, ref);
  task->checkpoint_io = system.spawn(checkpoint_io_actor, ref);
  task->queues = system.spawn(queue_shard_actor, ref);
  task->switchboard = system.spawn(switchboard_actor, ref);
  task->collectives = system.spawn(collectives_actor, ref);
  // Registered before the task listens: another rank greets it once only.
  caf::anon_send(task->switchboard, RegisterActor{collectives_name, task->collectives, {}});
  peers.emplace(task->tasks.size(), [this](TaskId other, std::shared_ptr<PeerSigns> signs) {
    return make_peer(other, std::move(signs));
  });
  task->peer = [this](TaskId other) -> const caf::actor& { return peers->of(other); };
}

caf::actor Server::Impl::make_peer(TaskId other, std::shared_ptr<PeerSigns> signs) {
  PeerOptions peer{other,
                   options.cluster.address(task->name_of(other)),
                   std::chrono::milliseconds(options.connect_timeout_ms),
                   std::chrono::milliseconds(options.heartbeat_timeout_ms),
                   std::move(signs),
                   recorder,
                   [this](const TaskIdentity& replica) { job.present(replica); },
                   [this](const TaskIdentity& replica) { job.left(replica); },
                   [this](const Status& reason) { on_replaced(reason); }};
  return runtime->system().spawn<caf::lazy_init>(peer_actor, TaskRef(task), network, std::move(peer));
}

Server::Impl::~Impl() {
  local_servers().remove(target, task->master);
  job.stop("the server was destroyed");
  try {
    insist([this] { await_heard(); });
  } catch (...) {  // as below
  }
  listener.reset();
  try {
    insist([this] { end_actors(); });
    let_go_of_task();
  } catch (...) {  // A simulation ends a killed client while it waits: its actors have ended already.
  }
}

// Others take the end of a connection with us for our loss. What has ended us may be that of another
// task: they hear of it first.
void Server::Impl::await_heard() {
  if (all_end || told_of_end) return;
  ask<bool>(*runtime, [this](std::function<void(bool)> heard) {
    caf::anon_send(task->collectives, AwaitHeard{std::move(heard)});
  });
}

// Drops the task and waits until it is gone. Lanes, and nodes that compute for them, end with their last
// handle, and use the task's devices and context until then.
void Server::Impl::let_go_of_task() {
  runtime->wait([this](Waker& waker) {
    *task_gone = [&waker] { waker.wake(); };
    task.reset();
  });
}

// Waits for the ends of the actors, so that their last messages have been sent.
void Server::Impl::end_actors() {
  const std::vector<caf::actor> leaving = peers->close(), own = own_actors();
  std::vector<caf::actor> ending = own;
  ending.insert(ending.end(), leaving.begin(), leaving.end());
  await_end(*runtime, ending, [&] {
    for (const auto& peer : leaving)
      caf::anon_send(peer, Leave{.at_once = all_end, .job_is_over = told_of_end});
    for (const auto& actor : own) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  });
}

std::vector<caf::actor> Server::Impl::own_actors() const {
  std::vector<caf::actor> actors{task->master,      task->worker,        task->shard,
                                 task->queues,      task->coordinator,   task->rendezvous,
                                 task->collectives, task->checkpoint_io, task->switchboard};
  for (const auto& others : {inputs.all(), named.all()})
    actors.insert(actors.end(), others.begin(), others.end());
  return actors;
}

void Server::Impl::receive(const TaskIdentity& from, Message message) {
  const Sender sender{task->id_of(from.name), from.incarnation};
  if (sender.task != task->own) {
    if (!meet(sender)) return;
    peers->signs(sender.task).heard.store(true, std::memory_order_relaxed);
    recorder->received(sender.task, message);
  }
  std::visit(
      [&](auto& content) {
        using M = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<M, ReplicaDone>) {
          job.present(from);
          job.left(from);
        } else if constexpr (std::is_same_v<M, Shutdown>) {
          told_of_end = true;
          job.stop(content.reason, content.code);
          end_waits(content.reason);
          caf::anon_send(task->master,
                         StopSteps{{Code::cancelled, "the job is over: " + content.reason}});
        } else if constexpr (std::is_same_v<M, Heartbeat>) {
          on_heartbeat(sender);
        } else {
          caf::anon_send(task->recipient(content), sender, std::move(content));
        }
      },
      message);
}

Status Server::Impl::admit(const TaskIdentity& from) {
  try {
    const TaskId id = task->id_of(from.name);
    if (id == task->own || meet({id, from.incarnation})) return {};
  } catch (const Error& error) {  // there is no such task
    return error.status();
  }
  return {Code::aborted,
          fmt::format("another process has taken the place of {} since; this one has been replaced and "
                      "must end",
                      from.name.to_string())};
}

// Call before handling the message, so that the peer learns the incarnation before any reply. False if
// the sender has been replaced.
bool Server::Impl::meet(const Sender& sender) {
  auto& [present, past] = known[static_cast<std::size_t>(sender.task)];
  if (present == sender.incarnation) return true;
  if (past.contains(sender.incarnation) || is_older(sender.incarnation, present)) return false;
  if (present != 0) past.insert(present);
  present = sender.incarnation;
  caf::anon_send(peers->of(sender.task), Met{present});
  return true;
}

void Server::Impl::on_heartbeat(const Sender& from) {
  if (!peers->signs(from.task).connected) caf::anon_send(peers->of(from.task), SayAlive{});
}

void Server::Impl::on_replaced(const Status& reason) {
  const std::string why = fmt::format("{}: {}", task->self.name.to_string(), reason.message);
  job.replace(why);
  caf::anon_send(task->master, StopSteps{{Code::failed_precondition, why}});
}

void Server::Impl::peer_gone(const TaskIdentity& from) {
  job.left(from);
  const PeerLost lost{task->id_of(from.name),
                      from.incarnation,
                      {Code::unavailable, from.name.to_string() + " has left or crashed"}};
  for (const auto& actor : {task->master, task->worker, task->switchboard}) caf::anon_send(actor, lost);
}

void Server::Impl::tell_task(TaskId to, Message message) {
  const SystemVisit visit;
  if (to == task->own)
    receive(task->self, std::move(message));
  else
    caf::anon_send(peers->of(to), std::move(message));
}

void Server::Impl::attend(TaskId other) {
  const SystemVisit visit;
  caf::anon_send(peers->of(other), Attend{});
}

// Ends the waits of steps, also of those that begin before their program hears of the end. They are
// aborted, not cancelled: a task that has not heard of the end makes a new session until it does.
void Server::Impl::end_waits(const std::string& reason) {
  for (const auto& actor : {task->coordinator, task->collectives})
    caf::anon_send(actor, JobOver{{Code::aborted, "the job is over: " + reason}});
}

// A process that has been replaced cannot end the job.
void Server::Impl::end_job(const Shutdown& message) {
  if (!job.replaced().empty()) return;
  end_waits(message.reason);
  for (std::size_t i = 0; i < task->tasks.size(); ++i)
    if (static_cast<TaskId>(i) != task->own) tell_task(static_cast<TaskId>(i), message);
}

}  // namespace actorflow
