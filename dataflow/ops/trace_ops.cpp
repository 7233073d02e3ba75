#include "dataflow/ops/trace_ops.h"

#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

constexpr std::int64_t num_texts = 4, num_numbers = 6;

void infer_record_task(InferContext& c) {
  const auto milliseconds = c.attr<std::int64_t>("milliseconds");
  if (milliseconds < 0 || milliseconds > max_record_milliseconds)
    c.fail("milliseconds from 0 to " + std::to_string(max_record_milliseconds),
           std::to_string(milliseconds));
  c.add_output(DType::int64, {3});
  c.add_output(DType::string, {Shape::unknown, num_texts});
  c.add_output(DType::int64, {Shape::unknown, num_numbers});
}

bool is_record(std::span<const Tensor> tensors) {
  if (tensors.size() != 3) return false;
  const auto &clock = tensors[0], &texts = tensors[1], &numbers = tensors[2];
  if (clock.dtype() != DType::int64 || clock.shape() != Shape{3}) return false;
  if (texts.dtype() != DType::string || texts.shape().rank() != 2) return false;
  const std::int64_t events = texts.shape()[0];
  return texts.shape() == Shape{events, num_texts} && numbers.dtype() == DType::int64 &&
         numbers.shape() == Shape{events, num_numbers};
}

}  // namespace

const OpDef& record_task_op() {
  static const OpDef op{.name = "RecordTask",
                        .attrs = {required_int("milliseconds")},
                        .infer = infer_record_task,
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> trace_ops() {
  static const std::array<const OpDef*, 1> ops{&record_task_op()};
  return ops;
}

std::array<Output, 3> record_task(Graph& graph, std::int64_t milliseconds) {
  const Output clock = graph.add(record_task_op(), {}, {{"milliseconds", milliseconds}});
  return {clock, clock.output(1), clock.output(2)};
}

std::vector<Tensor> record_tensors(const TaskRecord& record) {
  const auto events = static_cast<std::int64_t>(record.events.size());
  std::vector<Tensor> tensors{
      Tensor::of<std::int64_t>({3}, {record.begin_us, record.end_us, record.dropped}),
      Tensor::allocate(DType::string, {events, num_texts}),
      Tensor::allocate(DType::int64, {events, num_numbers})};
  auto text = tensors[1].mutable_values<std::string>().begin();
  auto number = tensors[2].mutable_values<std::int64_t>().begin();
  for (const auto& event : record.events) {
    const NodeTrace& of = event.record;
    for (const auto* part : {&of.node, &of.op, &of.device, &of.peer}) *text++ = *part;
    for (const auto value :
         {static_cast<std::int64_t>(event.kind), static_cast<std::int64_t>(event.step), of.start_us,
          of.end_us, of.bytes_out, of.channel})
      *number++ = value;
  }
  return tensors;
}

TaskRecord task_record_of(const std::string& task, std::span<const Tensor> tensors) {
  if (!is_record(tensors)) throw invalid_argument(task + " has sent no record of what it did");
  const auto clock = tensors[0].values<std::int64_t>();
  TaskRecord record{task, clock[0], clock[1], clock[2], {}};
  const auto texts = tensors[1].values<std::string>();
  const auto numbers = tensors[2].values<std::int64_t>();
  const auto events = static_cast<std::size_t>(tensors[1].shape()[0]);
  record.events.reserve(events);
  for (std::size_t i = 0; i < events; ++i) {
    const auto text = texts.subspan(i * num_texts, num_texts);
    const auto number = numbers.subspan(i * num_numbers, num_numbers);
    record.events.push_back(
        {static_cast<TaskEvent::Kind>(number[0]),
         static_cast<std::uint64_t>(number[1]),
         {text[0], text[1], text[2], number[2], number[3], number[4], text[3], number[5]}});
  }
  return record;
}

}  // namespace actorflow
