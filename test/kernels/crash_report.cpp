// What a process says that crashes inside of a kernel.
#include "kernels/core/crash_report.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <thread>

#include "dataflow/graph/graph.h"
#include "kernels/core/kernel.h"
#include "test/support/crash.h"

BOOST_AUTO_TEST_SUITE(crash_report)

using namespace actorflow;
using namespace actorflow::test;

namespace {

bool says(const Death& death, const std::string& text) {
  return death.said.find(text) != std::string::npos;
}

Node node(std::string device = "/job:worker/task:1/device:CPU:0") {
  Node made;
  made.name = "layer/product";
  made.op = &builtin_ops().def("MatMul");
  made.device = std::move(device);
  return made;
}

// As a kernel that computes `node` and does `body`.
void compute(const Node& node, const std::function<void()>& body) {
  OpContext context(node, cpu_device(), {}, {});
  body();
}

void write_to_nowhere() {
  volatile std::uintptr_t nowhere = 64;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

int endless(int depth) {
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : endless(depth + 1) + page[0];
}

constexpr const char* product = "node 'layer/product' (MatMul) on /job:worker/task:1/device:CPU:0";

}  // namespace

BOOST_AUTO_TEST_CASE(a_crash_in_a_kernel_names_node_op_and_task_and_where_to_report_it) {
  const Death death = death_of([] {
    report_crashes();
    compute(node(), write_to_nowhere);
  });
  BOOST_TEST(death.signal == SIGSEGV);
  BOOST_TEST(says(death, "SIGSEGV"), death.said);
  BOOST_TEST(says(death, "at address 0x40\n"), death.said);
  BOOST_TEST(says(death, product), death.said);
  BOOST_TEST(says(death, "Please report this text"), death.said);
}

BOOST_AUTO_TEST_CASE(every_signal_of_a_crash_is_reported_and_ends_the_process) {
  const std::pair<int, std::function<void()>> crashes[] = {
      {SIGILL, [] { raise(SIGILL); }},
      {SIGFPE, [] { raise(SIGFPE); }},
      {SIGBUS, [] { raise(SIGBUS); }},
      {SIGABRT, [] { std::abort(); }},
#ifdef __x86_64__
      {SIGILL, [] { __asm__ volatile("ud2"); }},
      {SIGFPE,
       [] {
         __asm__ volatile("xor %%eax, %%eax; cltd; idivl %%eax" ::: "eax", "edx");
       }},
#endif
  };
  for (const auto& [signal, crash] : crashes) {
    const Death death = death_of([&] {
      report_crashes();
      compute(node(), crash);
    });
    BOOST_TEST(death.signal == signal);
    BOOST_TEST(says(death, product), death.said);
  }
}

BOOST_AUTO_TEST_CASE(a_stack_that_has_overflown_is_reported) {
  const Death death = death_of([] {
    report_crashes();
    compute(node(), [] { endless(0); });
  });
  BOOST_TEST(death.signal == SIGSEGV);
  BOOST_TEST(says(death, product), death.said);
}

BOOST_AUTO_TEST_CASE(a_node_without_a_device_has_that_of_the_node_around_it) {
  const Death death = death_of([] {
    report_crashes();
    compute(node(), [] { compute(node(""), write_to_nowhere); });
  });
  BOOST_TEST(says(death, product), death.said);
}

BOOST_AUTO_TEST_CASE(work_that_is_no_node_is_named_and_so_is_its_task) {
  const WorkName part{"part 3 of the stage 'map'", "/job:worker/task:2"};
  const Death alone = death_of([&] {
    report_crashes();
    const Computing computing(part);
    write_to_nowhere();
  });
  BOOST_TEST(says(alone, "computed part 3 of the stage 'map' on /job:worker/task:2\n"), alone.said);
  const Death of_a_node = death_of([&] {
    report_crashes();
    const Computing computing(part);
    const Computing helper(Computing::on_this_thread());
    compute(node(""), write_to_nowhere);
  });
  BOOST_TEST(says(of_a_node, "'layer/product' (MatMul) on /job:worker/task:2\n"), of_a_node.said);
}

BOOST_AUTO_TEST_CASE(what_was_computed_before_is_not_blamed) {
  const Death death = death_of([] {
    report_crashes();
    compute(node(), [] {});
    write_to_nowhere();
  });
  BOOST_TEST(death.signal == SIGSEGV);
  BOOST_TEST(says(death, "computed no node"), death.said);
}

BOOST_AUTO_TEST_CASE(an_error_that_main_does_not_catch_is_no_crash_to_report) {
  const std::function<void()> fail = [] { throw invalid_argument("there is no file iris.csv"); };
  const Death of_main = death_of([&] {
    report_crashes();
    [&fail]() noexcept { fail(); }();
  });
  BOOST_TEST(of_main.signal == SIGABRT);
  BOOST_TEST(says(of_main, "there is no file iris.csv"), of_main.said);
  BOOST_TEST(!says(of_main, "Please report"), of_main.said);
  const Death of_another = death_of([&] {
    report_crashes();
    std::thread(fail).join();
  });
  BOOST_TEST(says(of_another, "Please report this text"), of_another.said);
}

BOOST_AUTO_TEST_CASE(a_handler_of_the_program_stays) {
  const Death death = death_of([] {
    signal(SIGSEGV, [](int) { _exit(0); });
    report_crashes();
    write_to_nowhere();
  });
  BOOST_TEST(death.signal == 0);
  BOOST_TEST(death.said == "");
}

BOOST_AUTO_TEST_SUITE_END()
