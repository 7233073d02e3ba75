// For the suites of Saver: a small graph on one task, its saver and a session.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/actorflow.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/actors/support/memory_storage.h"

namespace actorflow::test {

inline const std::string run_folder = "run/checkpoints";

inline std::shared_ptr<Runtime> runtime_on(Storage& storage) {
  return std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 2, .storage = &storage});
}

struct CounterGraph {
  Graph g;
  Variable step = global_step(g),
           count = g.variable("count", g.constant(Tensor::of<float>({2}, {1, 2})));
  Output more = g.assign_add(count, g.constant(Tensor::of<float>({2}, {10, 10})));
  Output next = g.assign_add(step, g.constant<std::int64_t>(1));
};

// The graph on a task that sees `storage`; its saver saves both variables.
struct SavedCounter : CounterGraph {
  explicit SavedCounter(Storage& storage, SaverOptions options = {})
      : saver(g, {count, step}, step, std::move(options)),
        tasks({{"local", 1}}, runtime_on(storage)),
        session(tasks.server("local", 0).target(), g) {}

  Saver saver;
  LocalCluster tasks;
  Session session;
};

inline auto error_with(Code code, std::vector<std::string> parts) {
  return [code, parts = std::move(parts)](const Error& error) {
    const std::string what = error.what();
    BOOST_TEST_INFO(what);
    bool all = error.code() == code;
    for (const auto& part : parts) all = all && what.find(part) != std::string::npos;
    if (!all) BOOST_TEST_MESSAGE("got: " << what);
    return all;
  };
}

}  // namespace actorflow::test
