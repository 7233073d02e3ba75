// The forms in which a model trains, by turns: weighted, in parts, with layers that are frozen.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <vector>

#include "actors/models/model.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(step_forms)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A classifier of two classes, and the graph in which it was built last.
struct Watched {
  const Graph* graph = nullptr;
  int built = 0;  // how often
  Model model = sequential({Layer("watched",
                                  [this](LayerScope& scope, Output x) {
                                    graph = &scope.graph();
                                    ++built;
                                    return x;
                                  }),
                            dense(3, tanh), dense(2)});

  Watched() { model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.05}}); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  std::size_t nodes() const { return graph->def().nodes.size(); }
};

TrainingData two_classes() {
  return {points_of_a_line(4).first, Tensor::of<std::int64_t>({4}, {0, 0, 1, 1})};
}

std::vector<FitOptions> all_forms() {
  const ClassWeight weights{{0, 1}, {1, 3}};
  return {quiet({.batch_size = 4}), quiet({.batch_size = 4, .class_weight = weights}),
          quiet({.batch_size = 4, .gradient_accumulation_steps = 2}),
          quiet({.batch_size = 4, .class_weight = weights, .gradient_accumulation_steps = 4})};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_thousand_turns_add_nothing_to_the_graph) {
  Watched watched;
  const auto forms = all_forms();
  for (const FitOptions& form : forms) watched.model.fit(two_classes(), form);
  watched.model.evaluate(two_classes());
  const int built = watched.built;
  const std::size_t nodes = watched.nodes();
  for (std::size_t turn = 0; turn < 1000; ++turn) {
    watched.model.fit(two_classes(), forms[turn % forms.size()]);
    if (turn % 100 == 0) watched.model.evaluate(two_classes());
  }
  BOOST_TEST(watched.built == built);
  BOOST_TEST(watched.nodes() == nodes);
}

// Each form goes on from the slots and the step of the others.
BOOST_AUTO_TEST_CASE(turns_teach_what_plans_made_anew_teach) {
  Watched kept, fresh;
  const auto forms = all_forms();
  for (std::size_t turn = 0; turn < 12; ++turn) {
    const FitOptions& form = forms[turn % forms.size()];
    kept.model.fit(two_classes(), form);
    FitOptions elsewhere = form;  // another graph each time
    elsewhere.strategy = Mirrored{1};
    fresh.model.fit(two_classes(), elsewhere);
  }
  BOOST_TEST(kept.model.step() == 12);
  BOOST_TEST(same(kept.model.weights(), fresh.model.weights()));
}

BOOST_AUTO_TEST_CASE(freezing_by_turns_adds_nothing_to_the_graph) {
  Watched watched;
  std::vector<std::size_t> nodes;
  for (int turn = 0; turn < 20; ++turn) {
    watched.model.get_layer("dense").set_trainable(turn % 2 == 0);
    for (const FitOptions& form : all_forms()) watched.model.fit(two_classes(), form);
    nodes.push_back(watched.nodes());
  }
  for (std::size_t turn = 2; turn < nodes.size(); ++turn) BOOST_TEST(nodes[turn] == nodes[turn % 2]);
}

BOOST_AUTO_TEST_SUITE_END()
