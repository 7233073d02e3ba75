#include "actors/worker/lane.h"

#include <utility>

#include "actors/worker/node.h"
#include "actors/worker/node_calls.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/core/node_error.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

// Below this cost a node is not handed to another thread: the message takes only about 1 us, but the
// node's inputs and outputs would move to another core's cache, away from its neighbours.
constexpr std::int64_t worth_sending_ns = 15'000;
// Each helper should find the next node waiting when it is done with one.
constexpr int nodes_per_helper = 2;

}  // namespace

caf::behavior Lane::behavior(TaskRef task, std::shared_ptr<TaskRecorder> recorder,
                             std::shared_ptr<const Executable> executable) {
  task_ = std::move(task);
  task_recorder_ = std::move(recorder);
  executable_ = std::move(executable);
  self_->introduce("lane", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](StartStep& message) { start(message); },
      [this](Completed& result) { on_completed(result); },
      [this](Tick) {
        interrupted_ = false;
        advance();
      },
      [this](GiveUp& message) {
        if (active_ && message.step == step_) fail_step(std::move(message.reason));
      });
}

void Lane::begin(const StartStep& message) {
  active_ = true;
  interrupted_ = false;
  step_ = message.step;
  origin_ = {message.master, message.goes_on};
}

// Fails the step, unless it has ended already.
void Lane::refuse(const StartStep& message, Status why) {
  if (step_ != message.step) begin(message);
  if (active_) fail_step(std::move(why));
}

void Lane::start(StartStep& message) {
  begin(message);
  self_->pin();
  epoch_ = message.epoch;
  status_ = {};
  inputs_.resize(static_cast<std::size_t>(executable_->num_inputs()));
  args_ = std::move(message.args);
  retvals_.clear();
  pending_ = executable_->pending();
  if (message.trace || task_recorder_->on())
    recorder_ = task_recorder_->recorder_of(*executable_, message.trace);
  remaining_ = executable_->size();
  given_away_ = 0;
  for (NodeId id : executable_->sources()) arrive(id);
  advance();
}

void Lane::on_completed(Completed& result) {
  if (!active_ || result.step != step_) return;  // of a step that was given up
  if (executable_->node(result.node).dispatch == Dispatch::kernel) --given_away_;
  if (!result.status.ok()) return fail_step(std::move(result.status));
  done(result.node, result.outputs);
  advance();
}

// A lane whose steps were brief runs on the network's thread, until a step, perhaps of a larger batch,
// takes long.
void Lane::advance() {
  const auto begin = brief_ ? executable_->clock().now() : Clock::time_point();
  while (active_ && !interrupted_ && !(ready_elsewhere_.empty() && ready_.empty())) {
    fire(next());
  }
  if (active_ && !interrupted_ && remaining_ == std::ssize(from_gpu_)) fetch_from_gpu();
  if (brief_ && executable_->clock().now() - begin > brief_limit()) set_brief(false);
  if (active_ && remaining_ == 0) finish();
}

// The oldest ready node: the most others are likely to wait for it.
NodeId Lane::next() {
  if (!ready_elsewhere_.empty()) {
    const NodeId id = ready_elsewhere_.back();
    ready_elsewhere_.pop_back();
    return id;
  }
  const NodeId id = ready_[first_ready_++];
  if (first_ready_ == ready_.size()) {
    ready_.clear();
    first_ready_ = 0;
  }
  return id;
}

void Lane::fire(NodeId id) {
  const ExecutableNode& item = executable_->node(id);
  try {
    dispatch(item, id);
  } catch (...) {
    if (!active_) throw;
    const Status why = current_exception_status();
    fail_step({why.code, naming(*item.node, why.message)});
  }
}

void Lane::dispatch(const ExecutableNode& item, NodeId id) {
  if (recorder_) note_begin(id);
  switch (item.dispatch) {
    case Dispatch::kernel:
      return compute(item, id);
    case Dispatch::step:
      return take_argument(item, id);
    case Dispatch::shard:
    case Dispatch::coordinator:
    case Dispatch::queue:
    case Dispatch::collective:
    case Dispatch::rendezvous:
      if (item.node->op == &send_op()) return send(item, id);
      call_owner(*task_, executable_, reply_to(id), epoch_, take_inputs(item));
  }
}

void Lane::compute(const ExecutableNode& item, NodeId id) {
  if (!item.kernel) {
    if (recorder_) note_end(id, 0);
    return pass_control(item);
  }
  worth_handing_over(item, id) ? hand_over(item, id) : compute_here(item, id);
}

// Whether the node is costly, and not the only thing to do. Nodes of a GPU stay: only their launch is
// here, and another thread may be waiting for the GPU and would launch them late.
bool Lane::worth_handing_over(const ExecutableNode& item, NodeId id) const {
  return !ready_.empty() && item.device->type() == DeviceType::cpu &&
         executable_->cost(id).ns() >= worth_sending_ns &&
         given_away_ < nodes_per_helper * TaskScheduler::of(self_->home_system()).helpers();
}

// Its actor is made now, the first time: most nodes of most graphs are never handed over. It is this
// lane's own, so that lanes share nothing that changes.
void Lane::hand_over(const ExecutableNode& item, NodeId id) {
  if (costly_nodes_.empty()) costly_nodes_.resize(static_cast<std::size_t>(executable_->size()));
  caf::actor& actor = costly_nodes_[static_cast<std::size_t>(id)];
  if (!actor) actor = self_->spawn<caf::lazy_init>(costly_node_actor);
  ++given_away_;
  caf::anon_send(actor, Fire{reply_to(id), executable_, take_inputs(item)});
}

void Lane::compute_here(const ExecutableNode& item, NodeId id) {
  Status status = compute_node(*executable_, id, step_, inputs_of(item), outputs_);
  for (auto& input : inputs_of(item)) input = {};
  if (!status.ok()) return fail_step(std::move(status));
  done(id, outputs_);
  if (given_away_ == 0 || executable_->cost(id).ns() < worth_sending_ns) return;
  // Helpers may have finished other nodes meanwhile, whose consumers should start.
  caf::anon_send(self_, Tick{});
  interrupted_ = true;
}

void Lane::send(const ExecutableNode& item, NodeId id) {
  if (recorder_) note_end(id, total_bytes(inputs_of(item)));
  send_tensor(*task_, step_, item, std::exchange(inputs_of(item)[0], {}));
  outputs_.clear();
  done(id, outputs_);
}

void Lane::take_argument(const ExecutableNode& item, NodeId id) {
  outputs_.clear();
  if (item.node->op == &retval_op()) {
    const Tensor& tensor = inputs_of(item)[0];
    if (tensor.valid() && !tensor.on_host()) return from_gpu_.push_back(id);
    return give_result(item, id);
  }
  outputs_.push_back(fed_value(item, take_slot(args_, item.slot)));  // once for all consumers
  done(id, outputs_);
}

void Lane::give_result(const ExecutableNode& item, NodeId id) {
  outputs_.clear();
  retvals_.emplace_back(static_cast<std::int32_t>(item.slot), std::exchange(inputs_of(item)[0], {}));
  done(id, outputs_);
}

// The last thing to do: it waits for the GPU, which meanwhile gets nothing to compute from here.
void Lane::fetch_from_gpu() {
  for (const NodeId id : std::exchange(from_gpu_, {})) {
    if (!active_) return;
    const ExecutableNode& item = executable_->node(id);
    try {
      Tensor& tensor = inputs_of(item)[0];
      tensor = on_device(std::move(tensor), cpu_device());
      give_result(item, id);
    } catch (...) {
      const Status why = current_exception_status();
      fail_step({why.code, naming(*item.node, why.message)});
    }
  }
}

void Lane::done(NodeId id, std::vector<Tensor>& outputs) {
  const ExecutableNode& item = executable_->node(id);
  if (recorder_ && item.node->op != &send_op()) note_end(id, total_bytes(outputs));
  for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
    Tensor& output = outputs[static_cast<std::size_t>(i)];
    const auto consumers = executable_->consumers(item, i);
    // The last consumer gets our own handle, so that it may work in place.
    for (std::size_t c = 0; c < consumers.size(); ++c) {
      auto& input = inputs_[static_cast<std::size_t>(consumers[c].input)];
      if (c + 1 < consumers.size())
        input = output;
      else
        input = std::move(output);
    }
    output = {};
    for (const auto& consumer : consumers)
      if (--pending_[static_cast<std::size_t>(consumer.node)] == 0) arrive(consumer.node);
  }
  pass_control(item);
}

void Lane::pass_control(const ExecutableNode& item) {
  for (NodeId next : executable_->controls_from(item))
    if (--pending_[static_cast<std::size_t>(next)] == 0) arrive(next);
  --remaining_;
}

void Lane::arrive(NodeId id) {
  const Dispatch dispatch = executable_->node(id).dispatch;
  (dispatch == Dispatch::kernel || dispatch == Dispatch::step ? ready_ : ready_elsewhere_).push_back(id);
}

void Lane::note_begin(NodeId id) { recorder_->begin(id, executable_->clock().now()); }

void Lane::note_end(NodeId id, std::int64_t bytes_out) {
  recorder_->end(id, executable_->clock().now(), bytes_out);
}

void Lane::fail_step(Status status) {
  status_ = std::move(status);
  retvals_.clear();
  for (auto& input : inputs_) input = {};
  release_step(*task_, {step_, status_});
  finish();
}

// The step stays active until worker and client have been told: if one cannot be, it fails, and is
// finished once more.
void Lane::finish() {
  args_.clear();
  outputs_.clear();  // of a node that has failed: its kernel may have made some
  ready_.clear();
  first_ready_ = 0;
  ready_elsewhere_.clear();
  from_gpu_.clear();
  self_->unpin();
  look_at_costs();
  StepDone message{step_, std::move(status_), std::move(retvals_)};
  if (recorder_)
    message.trace =
        task_recorder_->ended(step_, std::exchange(recorder_, nullptr), executable_->clock().now());
  report_end(*task_, origin_, *executable_, std::move(message));
  active_ = false;
}

void Lane::look_at_costs() {
  constexpr unsigned one_in = 32;
  if (++steps_ended_ % one_in == 2) set_brief(executable_->computes_within(brief_limit()));
}

std::chrono::nanoseconds Lane::brief_limit() const {
  return TaskScheduler::of(self_->home_system()).brief_limit();
}

void Lane::set_brief(bool brief) {
  brief_ = brief;
  self_->set_brief(brief);
}

std::span<Tensor> Lane::inputs_of(const ExecutableNode& item) {
  return std::span(inputs_).subspan(static_cast<std::size_t>(item.first_input),
                                    static_cast<std::size_t>(item.num_inputs));
}

std::vector<Tensor> Lane::take_inputs(const ExecutableNode& item) {
  const auto inputs = inputs_of(item);
  return {std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end())};
}

ReplyTo Lane::reply_to(NodeId id) const { return {caf::actor_cast<caf::actor>(self_), step_, id}; }

caf::behavior lane_actor(LaneActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder,
                         std::shared_ptr<const Executable> executable) {
  self->state = std::make_unique<Lane>(self);
  return self->state->behavior(std::move(task), std::move(recorder), std::move(executable));
}

}  // namespace actorflow
