// Steps of one task that use what training by parameter servers does not: an input, a queue, and, with
// --node_actors, nodes that are actors. A step that fails is told, and the next one is made; the program
// ends well if the last one was.
#include <fmt/format.h>

#include <optional>

#include "actors/actorflow.h"
#include "actors/client/dataset_iterator.h"
#include "dataflow/ops/queue_ops.h"
#include "test/apps/support/flags_program.h"

namespace actorflow {
namespace {

constexpr int steps = 20;

struct Flags {
  bool node_actors = false;

  void add_to(CommandLine& program) {
    program.flag("--node_actors", node_actors, "Each node is an actor");
  }
};

Dataset numbers() {
  return Dataset::tensors({Tensor::of<std::int64_t>({4}, {0, 1, 2, 3})}).repeat(100).prefetch(2);
}

// An element of the input goes through a queue, and one of a dataset is read beside.
class Step {
 public:
  Step(Server& server, const Flags& flags) : beside_(server, numbers()) {
    server.serve_input("numbers", numbers());
    server.skip_input_to("numbers", 1);
    const TensorType number{DType::int64, {}};
    const Queue queue(g_, QueueKind::fifo,
                      {.name = "numbers", .components = {number}, .capacity = 2 * steps});
    put_ = queue.enqueue(iterator_get_next(g_, "numbers", {number}));
    taken_ = queue.dequeue()[0] + g_.constant(std::int64_t{1});
    session_.emplace(
        server.target(), g_,
        SessionOptions{.executor = flags.node_actors ? Executor::node_actors : Executor::lanes});
    beside_.skip_to(1);
  }

  // What was put into the queue may be gone with a step that failed: another one waits for it in vain.
  void make() {
    const RunOptions options{.timeout_ms = 2000};
    session_->run(std::vector<Output>{}, {}, {put_}, options);
    session_->run({taken_}, {}, {}, options);
    beside_.next();
  }

 private:
  Graph g_;
  Output put_, taken_;
  DatasetIterator beside_;
  std::optional<Session> session_;
};

int run(const Flags& flags) {
  Server server = Server::local();
  Step step(server, flags);
  for (int i = 1;; ++i) try {
      step.make();
      if (i >= steps) return success;
    } catch (const Error& error) {
      fmt::print(stderr, "a step has failed: {}\n", error.what());
      if (i >= 2 * steps) throw;
    }
}

}  // namespace
}  // namespace actorflow

int main(int argc, char** argv) {
  return actorflow::test::run_with_flags("Steps with an input and a queue", "throwing_steps", argc, argv,
                                         actorflow::run);
}
