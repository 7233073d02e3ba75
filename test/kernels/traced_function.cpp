// Traced functions: signatures, variables by reference, and mistakes.
#include "kernels/eager/traced_function.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "kernels/control/control_flow.h"
#include "kernels/eager/gradient_tape.h"
#include "kernels/ops.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(traced_function)

using namespace actorflow;
using test::status_of;

namespace {

void check(const Status& status, Code code, const std::string& text) {
  BOOST_TEST((status.code == code), status.to_string());
  BOOST_TEST(status.message.find(text) != std::string::npos, status.message);
}

Outputs doubled(const Outputs& in) { return {in[0] * 2.0F}; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_function_is_traced_once_for_a_signature) {
  int calls = 0;
  const auto traced = trace([&calls](const Outputs& in) {
    ++calls;
    return doubled(in);
  });
  for (int i = 0; i < 3; ++i) BOOST_TEST(identical(traced({Tensor{1.0F, 2.0F}})[0], Tensor{2.0F, 4.0F}));
  BOOST_TEST(calls == 1);
  BOOST_TEST(identical(traced({Tensor{1.0F}})[0], Tensor{2.0F}));
  BOOST_TEST(calls == 2);
  BOOST_TEST(traced.traces() == 2U);
}

BOOST_AUTO_TEST_CASE(an_open_dimension_takes_any_size) {
  const auto traced = trace(doubled, {.specs = {{DType::float32, {-1}}}});
  BOOST_TEST(identical(traced({Tensor{1.0F}})[0], Tensor{2.0F}));
  BOOST_TEST(identical(traced({Tensor{1.0F, 3.0F}})[0], Tensor{2.0F, 6.0F}));
  BOOST_TEST(traced.concrete({{DType::float32, {3}}}).inputs()[0].shape().to_string() == "[?]");
  BOOST_TEST(traced.traces() == 1U);
  check(status_of([&] { traced({Tensor{1.0}}); }), Code::invalid_argument,
        "takes float32[?], but got float64[1]");
}

BOOST_AUTO_TEST_CASE(too_many_signatures_are_refused) {
  const auto traced = trace(doubled, {.name = "doubled", .max_traces = 2});
  traced({Tensor{1.0F}});
  traced({Tensor{1.0F, 2.0F}});
  check(status_of([&] {
          traced({Tensor{1.0F, 2.0F, 3.0F}});
        }),
        Code::resource_exhausted, "give TraceOptions::specs with -1");
}

BOOST_AUTO_TEST_CASE(variables_are_captured_by_reference) {
  const EagerVariable w("w", Tensor{1.0F}), untouched("untouched", Tensor{5.0F});
  const auto traced = trace([&](const Outputs& in) {
    w.assign(w + in[0]);
    return Outputs{w * untouched};  // w after the assignment, as a tape reads it
  });
  BOOST_TEST(identical(traced({Tensor{2.0F}})[0], Tensor{15.0F}));
  BOOST_TEST(identical(w.read(), Tensor{3.0F}));
  w.assign(Tensor{10.0F});
  BOOST_TEST(identical(traced({Tensor{2.0F}})[0], Tensor{60.0F}));
  BOOST_TEST(traced.concrete({{DType::float32, {1}}}).variables().size() == 2U);
}

BOOST_AUTO_TEST_CASE(additions_to_a_variable_take_effect_when_the_graph_has_run) {
  const EagerVariable w("w", Tensor{1.0F});
  const auto traced = trace([&](const Outputs& in) {
    Graph& graph = *in[0].graph;
    const Output read = w;
    graph.assign_add(Variable(read, {}), in[0]);
    graph.assign_add(Variable(read, {}), in[0]);
    return Outputs{read, w};
  });
  const auto results = traced({Tensor{2.0F}});
  BOOST_TEST(identical(results[0], Tensor{1.0F}));
  BOOST_TEST(identical(results[1], Tensor{5.0F}));
  BOOST_TEST(identical(w.read(), Tensor{5.0F}));
  BOOST_TEST(traced.concrete({{DType::float32, {1}}}).updates().size() == 2U);
}

BOOST_AUTO_TEST_CASE(variables_of_one_name_are_told_apart) {
  const EagerVariable w("w", Tensor{2.0F}), other("w", Tensor{3.0F});
  const auto traced = trace([&](const Outputs& in) { return Outputs{in[0] * w - other}; });
  BOOST_TEST(identical(traced({Tensor{5.0F}})[0], Tensor{7.0F}));
}

BOOST_AUTO_TEST_CASE(a_node_changes_the_one_that_it_was_given) {
  const EagerVariable w("w", Tensor{2.0F}), other("w", Tensor{3.0F});
  const auto traced = trace([&](const Outputs& in) {
    for (const EagerVariable& variable : {other, w, other})
      in[0].graph->assign_add(variable.in_graph(), in[0]);
    return Outputs{w * other};
  });
  BOOST_TEST(identical(traced({Tensor{1.0F}})[0], Tensor{15.0F}));
  BOOST_TEST(identical(w.read(), Tensor{3.0F}));
  BOOST_TEST(identical(other.read(), Tensor{5.0F}));
}

BOOST_AUTO_TEST_CASE(a_variable_has_its_name_in_any_scope) {
  const EagerVariable w("w", Tensor{2.0F});
  const auto traced = trace([&](const Outputs& in) {
    return in[0].graph->name_scope("net", [&] {
      w.assign(w + in[0]);
      return Outputs{w * 2.0F};
    });
  });
  BOOST_TEST(identical(traced({Tensor{1.0F}})[0], Tensor{6.0F}));
  BOOST_TEST(traced.concrete({{DType::float32, {1}}}).values().contains("w"));
}

// What is assigned to `second` has another shape than it in the second call.
BOOST_AUTO_TEST_CASE(all_assignments_are_made_or_none) {
  const EagerVariable first("first", Tensor{0.0F}), second("second", Tensor{1.0F, 2.0F});
  const auto traced = trace(
      [&](const Outputs& in) {
        first.assign(first + 1.0F);
        second.assign(in[0]);
        return Outputs{in[0]};
      },
      {.specs = {{DType::float32, {-1}}}});
  traced({Tensor{3.0F, 4.0F}});
  check(status_of([&] { traced({Tensor{5.0F}}); }), Code::invalid_argument, "'second' is float32[2]");
  BOOST_TEST(identical(first.read(), Tensor{1.0F}));
  BOOST_TEST(identical(second.read(), Tensor{3.0F, 4.0F}));
}

BOOST_AUTO_TEST_CASE(a_branch_neither_assigns_nor_reads_first) {
  const EagerVariable w("w", Tensor::scalar(2.0F));
  const auto error_of = [&](const std::function<Output(Output)>& body) {
    return status_of([&] {
      trace([&](const Outputs& in) {
        return Outputs{cond(
            in[0] > 0.0F, [&] { return body(in[0]); }, [&] { return in[0]; })};
      })({Tensor::scalar(1.0F)});
    });
  };
  check(error_of([&](Output x) { return x + w; }), Code::failed_precondition, "read it before");
  check(error_of([&](Output x) {
          w.assign(x);
          return x;
        }),
        Code::failed_precondition, "let the body return the value");
}

BOOST_AUTO_TEST_CASE(a_function_may_call_itself_with_other_types_only) {
  TracedFunction* self = nullptr;
  TracedFunction traced = trace([&](const Outputs& in) {
    if (in[0].shape()[0] > 1) (*self)({Tensor{1.0F}});
    if (in[0].shape()[0] > 2) (*self)({Tensor{1.0F, 2.0F, 3.0F}});
    return Outputs{in[0] + 1.0F};
  });
  self = &traced;
  BOOST_TEST(identical(traced({Tensor{1.0F, 2.0F}})[0], Tensor{2.0F, 3.0F}));
  BOOST_TEST(traced.traces() == 2U);
  check(status_of([&] {
          traced({Tensor{1.0F, 2.0F, 3.0F}});
        }),
        Code::failed_precondition, "calls itself");
}

BOOST_AUTO_TEST_CASE(a_failed_call_changes_no_variable) {
  const EagerVariable w("w", Tensor{1});
  const auto traced = trace([&](const Outputs& in) {
    w.assign(w + 1);
    return Outputs{w / in[0]};
  });
  BOOST_TEST((status_of([&] { traced({Tensor{0}}); }).code == Code::invalid_argument));
  BOOST_TEST(w.read().scalar<int>() == 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_traced_is_refused) {
  const auto error_of = [](TracedFunction::Function function) {
    return status_of([&] { trace(std::move(function))({Tensor{1.0F}}); });
  };
  check(error_of([](const Outputs& in) { return Outputs{in[0].graph->variable("v", in[0])}; }),
        Code::unimplemented, "a variable is made inside; make it before, as an EagerVariable");
  check(error_of([](const Outputs& in) {
          value(in[0]);
          return in;
        }),
        Code::failed_precondition, "does not run as it is built");
  check(error_of([](const Outputs&) { return Outputs{}; }), Code::invalid_argument,
        "has returned no output");
  check(error_of([](const Outputs&) { return Outputs{Output()}; }), Code::invalid_argument, "output 0");
  check(status_of([] { trace(nullptr); }), Code::invalid_argument, "an empty function");
}

BOOST_AUTO_TEST_SUITE_END()
