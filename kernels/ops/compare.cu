// Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr, LogicalNot, Select.
#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using OrderedTypes = DTypes<float, double, std::int32_t, std::int64_t, std::uint8_t, Float16, BFloat16>;
using ComparableTypes =
    DTypes<float, double, std::int32_t, std::int64_t, bool, std::uint8_t, Float16, BFloat16>;
using Booleans = DTypes<bool>;

struct Equal {
  template <class T>
  ACTORFLOW_HOST_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual {
  template <class T>
  ACTORFLOW_HOST_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Less {
  template <class T>
  ACTORFLOW_HOST_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual {
  template <class T>
  ACTORFLOW_HOST_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct And {
  ACTORFLOW_HOST_DEVICE bool operator()(bool a, bool b) const { return a & b; }
};

struct Or {
  ACTORFLOW_HOST_DEVICE bool operator()(bool a, bool b) const { return a | b; }
};

struct Not {
  ACTORFLOW_HOST_DEVICE bool operator()(bool x) const { return !x; }
};

template <class Types>
void infer_comparison(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  c.expect_same_dtype();
  c.add_output(DType::boolean, broadcast_inputs(c));
}

void infer_select(InferContext& c) {
  c.expect_dtype(0, DType::boolean);
  expect_dtype_in<PlainTypes>(c, 1);
  c.expect_dtype(2, c.input(1).dtype);
  c.add_output(c.input(1).dtype, broadcast_inputs(c));
}

std::vector<Output> select_gradient(GradientContext& c) {
  const Output condition = c.input(0), g = c.gradient(), zero = scalar_like(g, 0);
  return {Output(), sum_like(select(condition, g, zero), c.input(1)),
          sum_like(select(condition, zero, g), c.input(2))};
}

template <class Types>
OpDef comparison_def(std::string_view name) {
  return {.name = name, .min_inputs = 2, .max_inputs = 2, .infer = infer_comparison<Types>};
}

const OpDef& equal_op() {
  static const OpDef op = comparison_def<ComparableTypes>("Equal");
  return op;
}

const OpDef& not_equal_op() {
  static const OpDef op = comparison_def<ComparableTypes>("NotEqual");
  return op;
}

const OpDef& less_op() {
  static const OpDef op = comparison_def<OrderedTypes>("Less");
  return op;
}

const OpDef& less_equal_op() {
  static const OpDef op = comparison_def<OrderedTypes>("LessEqual");
  return op;
}

const OpDef& greater_op() {
  static const OpDef op = comparison_def<OrderedTypes>("Greater");
  return op;
}

const OpDef& greater_equal_op() {
  static const OpDef op = comparison_def<OrderedTypes>("GreaterEqual");
  return op;
}

const OpDef& logical_and_op() {
  static const OpDef op = comparison_def<Booleans>("LogicalAnd");
  return op;
}

const OpDef& logical_or_op() {
  static const OpDef op = comparison_def<Booleans>("LogicalOr");
  return op;
}

const OpDef& logical_not_op() {
  static const OpDef op{
      .name = "LogicalNot", .min_inputs = 1, .max_inputs = 1, .infer = infer_unary<Booleans>};
  return op;
}

const OpDef& select_op() {
  static const OpDef op{.name = "Select",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .infer = infer_select,
                        .gradient = select_gradient};
  return op;
}

// Calls body(element): element(i) is x[i], or *x for every i if the stride is 0 and not 1.
template <class T, class Body>
void with_elements(const T* x, std::int64_t stride, const Body& body) {
  if (stride == 0)
    body([value = *x](std::int64_t) { return value; });
  else
    body([x](std::int64_t i) { return x[i]; });
}

// Reads both sides, so that there is no branch.
template <class T>
void select_loop(std::int64_t count, const bool* condition, std::int64_t by_condition, const T* a,
                 std::int64_t by_a, const T* b, std::int64_t by_b, T* out) {
  with_elements(a, by_a, [=](auto a_at) {
    with_elements(b, by_b, [=](auto b_at) {
      vectorised([=] {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < count; ++i) {
          const T x = a_at(i), y = b_at(i);
          out[i] = condition[i * by_condition] ? x : y;
        }
      });
    });
  });
}

template <class T>
void select_on_cpu(const StridedLoops<3>& loops, const bool* condition, const T* a, const T* b, T* out) {
  loops.for_each_row([&](std::int64_t first, const auto& offsets) {
    select_loop(loops.row_length(), condition + offsets[0], loops.row_stride(0), a + offsets[1],
                loops.row_stride(1), b + offsets[2], loops.row_stride(2), out + first);
  });
}

#ifdef ACTORFLOW_CUDA
template <class T>
struct SelectBody {
  StridedLoops<3> loops;
  const bool* condition;
  const T *a, *b;
  T* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    out[i] = condition[loops.offset(0, i)] ? a[loops.offset(1, i)] : b[loops.offset(2, i)];
  }
};
#endif

template <class T>
void run_select(OpContext& c, const StridedLoops<3>& loops, Tensor& out) {
  const auto* condition = static_cast<const bool*>(c.input(0).data());
  const auto *a = static_cast<const T*>(c.input(1).data()),
             *b = static_cast<const T*>(c.input(2).data());
  auto* result = static_cast<T*>(out.mutable_data());
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return launch(c.device(), loops.elements, SelectBody<T>{loops, condition, a, b, result});
#endif
  select_on_cpu(loops, condition, a, b, result);
}

void select_kernel(OpContext& c) {
  if (c.input(0).dtype() != DType::boolean || c.input(1).dtype() != c.input(2).dtype())
    c.fail("a condition of bool and two tensors of one dtype",
           c.input(0).describe() + ", " + c.input(1).describe() + " and " + c.input(2).describe());
  const Shape shape = broadcast_inputs(c);
  Tensor& out = c.forward_or_allocate(1, 0, c.input(1).dtype(), shape);
  dispatch_by_size(c, c.input(1), [&]<class T>() {
    run_select<T>(
        c, broadcast_loops<3>(shape, {c.input(0).shape(), c.input(1).shape(), c.input(2).shape()}), out);
  });
}

}  // namespace

Output equal(Output a, Output b) { return add_node(equal_op(), {a, b}); }
Output not_equal(Output a, Output b) { return add_node(not_equal_op(), {a, b}); }
Output less(Output a, Output b) { return add_node(less_op(), {a, b}); }
Output less_equal(Output a, Output b) { return add_node(less_equal_op(), {a, b}); }
Output greater(Output a, Output b) { return add_node(greater_op(), {a, b}); }
Output greater_equal(Output a, Output b) { return add_node(greater_equal_op(), {a, b}); }
Output logical_and(Output a, Output b) { return add_node(logical_and_op(), {a, b}); }
Output logical_or(Output a, Output b) { return add_node(logical_or_op(), {a, b}); }
Output logical_not(Output x) { return add_node(logical_not_op(), {x}); }
Output select(Output condition, Output a, Output b) { return add_node(select_op(), {condition, a, b}); }

// a > b is b < a, so that two comparisons need no kernels of their own.
std::vector<Op> compare_ops() {
  constexpr int right = 1;
  return {on_all_devices<binary<Equal, ComparableTypes>>(equal_op()),
          on_all_devices<binary<NotEqual, ComparableTypes>>(not_equal_op()),
          on_all_devices<binary<Less, OrderedTypes>>(less_op()),
          on_all_devices<binary<LessEqual, OrderedTypes>>(less_equal_op()),
          on_all_devices<binary<Less, OrderedTypes, right>>(greater_op()),
          on_all_devices<binary<LessEqual, OrderedTypes, right>>(greater_equal_op()),
          on_all_devices<binary<And, Booleans>>(logical_and_op()),
          on_all_devices<binary<Or, Booleans>>(logical_or_op()),
          on_all_devices<unary<Not, Booleans>>(logical_not_op()),
          on_all_devices<select_kernel>(select_op())};
}

}  // namespace actorflow
