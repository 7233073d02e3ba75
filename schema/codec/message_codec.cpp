#include "schema/codec/message_codec.h"

#include "schema/codec/graph_codec.h"
#include "schema/codec/text.h"
#include "schema/codec/trace_codec.h"

namespace actorflow {
namespace {

void write_slots(const std::vector<Slot>& slots, TensorWriter& tensors,
                 capnp::List<wire::Slot>::Builder to) {
  for (unsigned i = 0; i < to.size(); ++i) {
    to[i].setIndex(slots[i].first);
    tensors.write(slots[i].second, to[i].initTensor());
  }
}

std::vector<Slot> read_slots(capnp::List<wire::Slot>::Reader from, TensorReader& tensors) {
  std::vector<Slot> slots;
  slots.reserve(from.size());
  for (const auto slot : from) slots.emplace_back(slot.getIndex(), tensors.read(slot.getTensor()));
  return slots;
}

void write_task_trace(const TaskTrace& trace, wire::TaskTrace::Builder to) {
  to.setStartUs(trace.start_us);
  to.setEndUs(trace.end_us);
  write_node_traces(trace.nodes, to.initNodes(static_cast<unsigned>(trace.nodes.size())));
}

struct MessageWriter {
  wire::Envelope::Builder to;
  TensorWriter& tensors;

  void operator()(const RegisterGraph& message) {
    auto body = to.initRegisterGraph();
    body.setRequest(message.request);
    write_graph(message.graph, tensors, body.initGraph());
    body.setCudaGraphs(message.cuda_graphs);
    body.setNodeActors(message.executor == Executor::node_actors);
  }
  void operator()(const GraphRegistered& message) {
    auto body = to.initGraphRegistered();
    body.setRequest(message.request);
    write_status(message.status, body.initStatus());
    body.setHandle(message.handle);
  }
  void operator()(const DeregisterGraph& message) { to.setDeregisterGraph(message.handle); }
  void operator()(const RunGraph& message) {
    auto body = to.initRunGraph();
    body.setHandle(message.handle);
    body.setStep(message.step);
    body.setEpoch(message.epoch);
    write_slots(message.args, tensors, body.initArgs(static_cast<unsigned>(message.args.size())));
    body.setTrace(message.trace);
    body.setNext(static_cast<wire::NextStep>(message.next));
  }
  void operator()(const StepDone& message) {
    auto body = to.initStepDone();
    body.setStep(message.step);
    write_status(message.status, body.initStatus());
    write_slots(message.retvals, tensors,
                body.initRetvals(static_cast<unsigned>(message.retvals.size())));
    if (!message.trace.nodes.empty()) write_task_trace(message.trace, body.initTrace());
  }
  void operator()(const AbortStep& message) {
    auto body = to.initAbortStep();
    body.setStep(message.step);
    write_status(message.reason, body.initReason());
  }
  void operator()(const TensorDelivery& message) {
    auto body = to.initTensorDelivery();
    body.setStep(message.step);
    body.setChannel(message.channel);
    tensors.write(message.tensor, body.initTensor());
  }
  void operator()(const GradientApplied& message) {
    auto body = to.initGradientApplied();
    body.setCoordinator(to_text(message.coordinator));
    body.setAccumulator(to_text(message.accumulator));
    body.setGlobalStep(message.global_step);
    body.setEpoch(message.epoch);
  }
  void operator()(const ReplicaDone&) { to.setReplicaDone(); }
  void operator()(const Shutdown& message) {
    if (message.code == Code::ok)
      to.setShutdown(to_text(message.reason));
    else
      write_status({message.code, message.reason}, to.initJobFailed());
  }
  void operator()(const GetStatus& message) { to.setGetStatus(message.request); }
  void operator()(const TaskStatus& message) {
    auto body = to.initTaskStatus();
    body.setRequest(message.request);
    write_devices(message.devices, body.initDevices(static_cast<unsigned>(message.devices.size())));
  }
  void operator()(const ClearContainers& message) {
    auto body = to.initClearContainers();
    body.setRequest(message.request);
    write_texts(message.containers,
                body.initContainers(static_cast<unsigned>(message.containers.size())));
    body.setSession(to_text(message.session));
  }
  void operator()(const ContainersCleared& message) { to.setContainersCleared(message.request); }
  void operator()(const Heartbeat&) { to.setHeartbeat(); }
  void operator()(const Undelivered& message) {
    auto body = to.initUndelivered();
    body.setWhat(static_cast<wire::Undeliverable>(message.what));
    body.setNumber(message.number);
    write_status(message.reason, body.initReason());
  }
  void operator()(const ActorMessage& message) {
    auto body = to.initActorMessage();
    body.setTo(to_text(message.to));
    body.setFrom(to_text(message.from));
    body.setType(to_text(message.type));
    body.setRequest(message.request);
    if (message.content.valid()) tensors.write(message.content, body.initContent());
    if (message.payload.valid()) tensors.write(message.payload, body.initPayload());
    if (!message.status.ok()) write_status(message.status, body.initStatus());
  }
};

Undelivered::What read_what(wire::Undeliverable from) {
  if (from <= wire::Undeliverable::TENSOR_DELIVERY) return static_cast<Undelivered::What>(from);
  throw invalid_argument("an undelivered message of unknown kind " +
                         std::to_string(static_cast<unsigned>(from)));
}

NextStep read_next(wire::NextStep from) {
  if (from <= wire::NextStep::BEGUN) return static_cast<NextStep>(from);
  throw invalid_argument("a RunGraph with a next step of unknown kind " +
                         std::to_string(static_cast<unsigned>(from)));
}

ActorMessage read_actor_message(wire::Envelope::ActorMessage::Reader body) {
  return {.to = to_string(body.getTo()),
          .from = to_string(body.getFrom()),
          .type = to_string(body.getType()),
          .request = body.getRequest(),
          .content = {},
          .payload = {},
          .status = read_status(body.getStatus())};
}

// Messages from the groups of an envelope.
struct MessageReader {
  TensorReader& tensors;
  const OpRegistry& ops;

  RegisterGraph operator()(wire::Envelope::RegisterGraph::Reader body) const {
    return {body.getRequest(), read_graph(body.getGraph(), tensors, ops), body.getCudaGraphs(),
            body.getNodeActors() ? Executor::node_actors : Executor::lanes};
  }
  GraphRegistered operator()(wire::Envelope::GraphRegistered::Reader body) const {
    return {body.getRequest(), read_status(body.getStatus()), body.getHandle()};
  }
  RunGraph operator()(wire::Envelope::RunGraph::Reader body) const {
    return {body.getHandle(), body.getStep(),
            body.getEpoch(),  read_slots(body.getArgs(), tensors),
            body.getTrace(),  read_next(body.getNext())};
  }
  StepDone operator()(wire::Envelope::StepDone::Reader body) const {
    const auto trace = body.getTrace();
    return {body.getStep(),
            read_status(body.getStatus()),
            read_slots(body.getRetvals(), tensors),
            {trace.getStartUs(), trace.getEndUs(), read_node_traces(trace.getNodes())}};
  }
  AbortStep operator()(wire::Envelope::AbortStep::Reader body) const {
    return {body.getStep(), read_status(body.getReason())};
  }
  TensorDelivery operator()(wire::Envelope::TensorDelivery::Reader body) const {
    return {body.getStep(), body.getChannel(), tensors.read(body.getTensor())};
  }
  GradientApplied operator()(wire::Envelope::GradientApplied::Reader body) const {
    return {to_string(body.getCoordinator()), to_string(body.getAccumulator()), body.getGlobalStep(),
            body.getEpoch()};
  }
  // Of a job that has failed.
  Shutdown operator()(wire::Status::Reader body) const {
    const Status why = read_status(body);
    return {why.message, why.ok() ? Code::unknown : why.code};
  }
  TaskStatus operator()(wire::Envelope::TaskStatus::Reader body) const {
    return {body.getRequest(), read_devices(body.getDevices())};
  }
  ClearContainers operator()(wire::Envelope::ClearContainers::Reader body) const {
    return {body.getRequest(), read_texts(body.getContainers()), to_string(body.getSession())};
  }
  Undelivered operator()(wire::Envelope::Undelivered::Reader body) const {
    return {read_what(body.getWhat()), body.getNumber(), read_status(body.getReason())};
  }
  ActorMessage operator()(wire::Envelope::ActorMessage::Reader body) const {
    auto message = read_actor_message(body);
    message.content = tensors.read(body.getContent());
    message.payload = tensors.read(body.getPayload());
    return message;
  }
};

}  // namespace

void write_task_name(const TaskName& name, wire::TaskName::Builder to) {
  to.setJob(to_text(name.job));
  to.setIndex(name.index);
}

TaskName read_task_name(wire::TaskName::Reader from) {
  return {to_string(from.getJob()), from.getIndex()};
}

void write_identity(const TaskIdentity& identity, wire::TaskIdentity::Builder to) {
  write_task_name(identity.name, to.initName());
  to.setIncarnation(identity.incarnation);
}

TaskIdentity read_identity(wire::TaskIdentity::Reader from) {
  return {read_task_name(from.getName()), from.getIncarnation()};
}

void write_status(const Status& status, wire::Status::Builder to) {
  to.setCode(static_cast<std::uint8_t>(status.code));
  if (status.message.size() <= max_text_bytes)
    to.setMessage(to_text(status.message));
  else
    to.setMessage((status.message.substr(0, max_text_bytes) +
                   " ... (cut: " + std::to_string(status.message.size()) + " bytes)")
                      .c_str());
}

Status read_status(wire::Status::Reader from) {
  const auto code = from.getCode();
  const bool known = code <= static_cast<std::uint8_t>(Code::disk_error);
  return {known ? static_cast<Code>(code) : Code::unknown, to_string(from.getMessage())};
}

void write_message(const Message& message, TensorWriter& tensors, wire::Envelope::Builder to) {
  std::visit(MessageWriter{to, tensors}, message);
}

Message read_message(wire::Envelope::Reader from, TensorReader& tensors, const OpRegistry& ops) {
  using Kind = wire::Envelope;
  const MessageReader read{tensors, ops};
  switch (from.which()) {
    case Kind::REGISTER_GRAPH:
      return read(from.getRegisterGraph());
    case Kind::GRAPH_REGISTERED:
      return read(from.getGraphRegistered());
    case Kind::DEREGISTER_GRAPH:
      return DeregisterGraph{from.getDeregisterGraph()};
    case Kind::RUN_GRAPH:
      return read(from.getRunGraph());
    case Kind::STEP_DONE:
      return read(from.getStepDone());
    case Kind::ABORT_STEP:
      return read(from.getAbortStep());
    case Kind::TENSOR_DELIVERY:
      return read(from.getTensorDelivery());
    case Kind::GRADIENT_APPLIED:
      return read(from.getGradientApplied());
    case Kind::REPLICA_DONE:
      return ReplicaDone{};
    case Kind::SHUTDOWN:
      return Shutdown{to_string(from.getShutdown())};
    case Kind::JOB_FAILED:
      return read(from.getJobFailed());
    case Kind::GET_STATUS:
      return GetStatus{from.getGetStatus()};
    case Kind::TASK_STATUS:
      return read(from.getTaskStatus());
    case Kind::CLEAR_CONTAINERS:
      return read(from.getClearContainers());
    case Kind::CONTAINERS_CLEARED:
      return ContainersCleared{from.getContainersCleared()};
    case Kind::HEARTBEAT:
      return Heartbeat{};
    case Kind::UNDELIVERED:
      return read(from.getUndelivered());
    case Kind::ACTOR_MESSAGE:
      return read(from.getActorMessage());
  }
  throw invalid_argument("an envelope of unknown kind " + std::to_string(from.which()));
}

std::optional<Message> in_place_of(wire::Envelope::Reader message, Status reason) {
  using What = Undelivered::What;
  switch (message.which()) {
    case wire::Envelope::REGISTER_GRAPH:
      return Undelivered{What::graph, message.getRegisterGraph().getRequest(), std::move(reason)};
    case wire::Envelope::RUN_GRAPH:
      return Undelivered{What::run, message.getRunGraph().getStep(), std::move(reason)};
    case wire::Envelope::TENSOR_DELIVERY:
      return Undelivered{What::tensor, message.getTensorDelivery().getStep(), std::move(reason)};
    case wire::Envelope::STEP_DONE:
      return StepDone{message.getStepDone().getStep(), std::move(reason), {}};
    case wire::Envelope::ACTOR_MESSAGE: {
      auto emptied = read_actor_message(message.getActorMessage());
      emptied.status = std::move(reason);
      return emptied;
    }
    default:
      return {};
  }
}

}  // namespace actorflow
