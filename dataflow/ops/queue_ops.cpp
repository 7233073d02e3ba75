#include "dataflow/ops/queue_ops.h"

#include <array>
#include <utility>

#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

constexpr std::string_view kind_names[] = {"fifo", "random_shuffle", "padding_fifo"};

std::vector<AttrDef> queue_attrs(const std::vector<AttrDef>& more) {
  return std::vector{required_state("queue"),  required_text("kind"),
                     required_int("capacity"), required_int("min_after_dequeue"),
                     required_int("seed"),     required_text("components")} +
         more;
}

QueueKind parse_kind(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kind_names); ++i)
    if (kind_names[i] == name) return static_cast<QueueKind>(i);
  throw invalid_argument("expected the kind of queue fifo, random_shuffle or padding_fifo, got '" +
                         name + "'");
}

// The type with a first dimension in front.
TensorType stacked(const TensorType& type, std::int64_t count) {
  Shape shape;
  shape.push_back(count);
  for (const auto dim : type.shape.dims()) shape.push_back(dim);
  return {type.dtype, shape};
}

void check_components(const InferContext& c, const QueueSpec& spec) {
  if (spec.options.components.empty()) c.fail("components of one tensor or more", "none");
  for (const auto& type : spec.options.components) {
    if (!type.shape.has_rank() || type.shape.rank() >= Shape::max_rank)
      c.fail("components of a known rank below " + std::to_string(Shape::max_rank), type.to_string());
    if (spec.kind != QueueKind::padding_fifo && !type.shape.fully_known())
      c.fail("components of fully known shapes, or a padding_fifo queue", type.to_string());
  }
}

QueueSpec checked_spec(const InferContext& c) {
  const QueueSpec spec = [&c] {
    try {
      return QueueSpec{parse_kind(c.attr<std::string>("kind")),
                       {.name = c.attr<std::string>("queue"),
                        .components = parse_tensor_types(c.attr<std::string>("components")),
                        .capacity = c.attr<std::int64_t>("capacity"),
                        .min_after_dequeue = c.attr<std::int64_t>("min_after_dequeue")}};
    } catch (const Error& error) {
      c.fail("the description of a queue", std::string("an error: ") + error.what());
    }
  }();
  if (spec.options.name.empty()) c.fail("the name of a queue", "''");
  if (spec.options.capacity < 1)
    c.fail("a capacity of 1 or more", std::to_string(spec.options.capacity));
  if (spec.options.min_after_dequeue < 0 || spec.options.min_after_dequeue >= spec.options.capacity)
    c.fail("min_after_dequeue of 0 or more and below the capacity, " +
               std::to_string(spec.options.capacity),
           std::to_string(spec.options.min_after_dequeue));
  check_components(c, spec);
  return spec;
}

void expect_inputs(const InferContext& c, std::span<const TensorType> expected) {
  const auto count = static_cast<int>(expected.size());
  if (c.inputs() != count)
    c.fail(std::to_string(count) + " inputs (" + to_string(expected) + ")", std::to_string(c.inputs()));
  for (int i = 0; i < count; ++i) {
    const TensorType& wanted = expected[static_cast<std::size_t>(i)];
    if (c.input(i).dtype != wanted.dtype || !wanted.shape.compatible_with(c.input(i).shape))
      c.fail("input " + std::to_string(i) + " of type " + wanted.to_string(), c.input(i).to_string());
  }
}

void infer_enqueue(InferContext& c) { expect_inputs(c, checked_spec(c).options.components); }

void infer_enqueue_many(InferContext& c) {
  std::vector<TensorType> expected;
  for (const auto& type : checked_spec(c).options.components)
    expected.push_back(stacked(type, Shape::unknown));
  expect_inputs(c, expected);
}

void infer_dequeue(InferContext& c) {
  for (const auto& type : checked_spec(c).options.components) c.add_output(type.dtype, type.shape);
}

void infer_stacked(InferContext& c, bool exact) {
  const auto count = c.attr<std::int64_t>("count");
  const QueueSpec spec = checked_spec(c);
  if (count < 1) c.fail("a count of 1 or more", std::to_string(count));
  for (const auto& type : spec.options.components) {
    const TensorType all = stacked(type, exact ? count : Shape::unknown);
    c.add_output(all.dtype, all.shape);
  }
}

void infer_iterator_get_next(InferContext& c) {
  if (c.attr<std::string>("iterator").empty()) c.fail("the name of an input", "''");
  for (const auto& type : parse_tensor_types(c.attr<std::string>("components")))
    c.add_output(type.dtype, type.shape);
}

template <class Infer>
OpDef queue_op(std::string_view name, Infer infer, const std::vector<AttrDef>& more = {},
               int max_inputs = 0) {
  return {.name = name,
          .max_inputs = max_inputs,
          .attrs = queue_attrs(more),
          .infer = infer,
          .dispatch = Dispatch::queue,
          .stateful = true};
}

}  // namespace

const OpDef& queue_enqueue_op() {
  static const OpDef op = queue_op("QueueEnqueue", infer_enqueue, {}, OpDef::any_number);
  return op;
}

const OpDef& queue_enqueue_many_op() {
  static const OpDef op = queue_op("QueueEnqueueMany", infer_enqueue_many, {}, OpDef::any_number);
  return op;
}

const OpDef& queue_dequeue_op() {
  static const OpDef op = queue_op("QueueDequeue", infer_dequeue);
  return op;
}

const OpDef& queue_dequeue_many_op() {
  static const OpDef op = queue_op("QueueDequeueMany", [](InferContext& c) { infer_stacked(c, true); },
                                   {required_int("count")});
  return op;
}

const OpDef& queue_dequeue_up_to_op() {
  static const OpDef op = queue_op("QueueDequeueUpTo", [](InferContext& c) { infer_stacked(c, false); },
                                   {required_int("count")});
  return op;
}

const OpDef& queue_close_op() {
  static const OpDef op = queue_op("QueueClose", [](InferContext& c) { checked_spec(c); },
                                   {{"cancel_pending_enqueues", false}});
  return op;
}

const OpDef& queue_size_op() {
  static const OpDef op = queue_op("QueueSize", [](InferContext& c) {
    checked_spec(c);
    c.add_output(DType::int64, {});
  });
  return op;
}

const OpDef& queue_is_closed_op() {
  static const OpDef op = queue_op("QueueIsClosed", [](InferContext& c) {
    checked_spec(c);
    c.add_output(DType::boolean, {});
  });
  return op;
}

const OpDef& iterator_get_next_op() {
  static const OpDef op{.name = "IteratorGetNext",
                        .attrs = {required_text("iterator"), required_text("components")},
                        .infer = infer_iterator_get_next,
                        .dispatch = Dispatch::queue,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> queue_ops() {
  static const std::array all = {
      &queue_enqueue_op(),      &queue_enqueue_many_op(),  &queue_dequeue_op(),
      &queue_dequeue_many_op(), &queue_dequeue_up_to_op(), &queue_close_op(),
      &queue_size_op(),         &queue_is_closed_op(),     &iterator_get_next_op()};
  return all;
}

std::string_view to_string(QueueKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

QueueSpec QueueSpec::of(const Node& node) {
  return {parse_kind(attr<std::string>(node, "kind")),
          {.name = attr<std::string>(node, "queue"),
           .components = parse_tensor_types(attr<std::string>(node, "components")),
           .capacity = attr<std::int64_t>(node, "capacity"),
           .min_after_dequeue = attr<std::int64_t>(node, "min_after_dequeue"),
           .seed = static_cast<std::uint64_t>(attr<std::int64_t>(node, "seed"))}};
}

std::string QueueSpec::to_string() const {
  std::string text = std::string(actorflow::to_string(kind)) + " queue '" + options.name + "' of " +
                     actorflow::to_string(options.components) + ", capacity " +
                     std::to_string(options.capacity);
  if (kind == QueueKind::random_shuffle)
    text += ", min_after_dequeue " + std::to_string(options.min_after_dequeue) + ", seed " +
            std::to_string(options.seed);
  return text;
}

bool QueueSpec::operator==(const QueueSpec& other) const {
  return kind == other.kind && options.name == other.options.name &&
         options.components == other.options.components && options.capacity == other.options.capacity &&
         options.min_after_dequeue == other.options.min_after_dequeue &&
         options.seed == other.options.seed;
}

}  // namespace actorflow
