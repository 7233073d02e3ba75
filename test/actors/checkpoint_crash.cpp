// A process that saves is killed at each of its system calls in turn; with a Saver on a cluster, whose
// threads cannot be told apart by a tracer, at each call of a file.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/checkpoint/files/file_writer.h"
#include "actors/checkpoint/folder.h"
#include "actors/runtime/file_storage.h"
#include "actors/runtime/threaded_runtime.h"
#include "dataflow/values/error.h"
#include "test/actors/support/real_calls.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(checkpoint_crash)

using namespace actorflow;

namespace {

constexpr int never = 0;

// Runs `body` in a child that stops before and after each system call, and kills it at the stop of that
// number. Returns how many stops there were, or -1 if children cannot be traced here.
int run_traced(const std::function<void()>& body, int kill_at) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    body();
    _exit(0);
  }
  int status = 0, stops = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return -1;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
  while (true) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) return stops;
    if (++stops != kill_at) continue;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return stops;
  }
}

boost::test_tools::assertion_result can_trace(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(run_traced([] { getppid(); }, never) > 0);
  result.message() << "processes cannot be traced here";
  return result;
}

// Weights that tell the step and the version.
Tensor weights(std::int64_t step, int version) {
  return Tensor::of<float>({2}, {static_cast<float>(step), static_cast<float>(version)});
}

// As two tasks and a chief do.
void save(const std::string& folder, std::int64_t step, int version) {
  Storage& storage = posix_storage();
  remove_leftovers(storage, folder, storage.list(folder));
  const std::string prefix = free_file_prefix(storage, folder, step);
  std::vector<Manifest> parts;
  for (int k = 1; k <= 2; ++k) {
    const std::string name = "w" + std::to_string(k);
    CheckpointFileWriter writer(storage, folder, data_file_name(prefix, k, 2), step,
                                {{name, name, "", 0, -1, weights(step, version)}});
    while (writer.write_some()) {
    }
    parts.push_back(writer.commit());
  }
  commit_checkpoint(storage, folder, merge_manifests(parts, step), {.max_to_keep = 1});
}

bool is_whole(const Checkpoint& checkpoint, int version) {
  for (const auto* name : {"w1", "w2"})
    if (!checkpoint.tensors.contains(name) ||
        !identical(checkpoint.tensors.at(name), weights(checkpoint.global_step, version)))
      return false;
  return checkpoint.tensors.size() == 2;
}

// Saves step 1, then `step` as version 2 until it is killed.
void check_each_call(std::int64_t step) {
  const auto save_second = [&](const std::string& folder) {
    return [folder, step] { save(folder, step, 2); };
  };
  int stops = 0, old = 0, fresh = 0;
  {
    const test::Folder folder;
    save(folder.path(), 1, 1);
    stops = run_traced(save_second(folder.path()), never);
    BOOST_TEST(is_whole(*load_latest_checkpoint(posix_storage(), folder.path()), 2));
  }
  BOOST_TEST(stops > 40);
  for (int kill_at = 1; kill_at <= stops; ++kill_at) {
    const test::Folder folder;
    save(folder.path(), 1, 1);
    run_traced(save_second(folder.path()), kill_at);
    const auto loaded = load_latest_checkpoint(posix_storage(), folder.path());
    BOOST_REQUIRE(loaded.has_value());
    const bool is_old = loaded->global_step == 1 && is_whole(*loaded, 1);
    const bool is_new = loaded->global_step == step && is_whole(*loaded, 2);
    BOOST_TEST((is_old || is_new), "killed at stop " << kill_at << " of " << stops);
    (is_new ? fresh : old) += 1;
    // Whoever comes next can save, and nothing is left of the one who was killed.
    save(folder.path(), 3, 3);
    BOOST_TEST(is_whole(*load_latest_checkpoint(posix_storage(), folder.path()), 3));
    BOOST_TEST(posix_storage().list(folder.path()).size() == 3u);
  }
  BOOST_TEST(old > 0);
  BOOST_TEST(fresh > 0);
}

// Kills the process before the call of that number, counted from 1.
class KillingCalls final : public test::RealCalls {
 public:
  explicit KillingCalls(int kill_at) : kill_at_(kill_at) {}

  int open(const std::string& path, OpenMode mode) override {
    count();
    return RealCalls::open(path, mode);
  }
  std::int64_t write(int file, std::span<const std::byte> bytes) override {
    count();
    return RealCalls::write(file, bytes);
  }
  std::int64_t write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) override {
    count();
    return RealCalls::write_at(file, offset, bytes);
  }
  int sync(int file) override {
    count();
    return RealCalls::sync(file);
  }
  int rename(const std::string& from, const std::string& to) override {
    count();
    return RealCalls::rename(from, to);
  }
  int unlink(const std::string& path) override {
    count();
    return RealCalls::unlink(path);
  }
  int make_folder(const std::string& path) override {
    count();
    return RealCalls::make_folder(path);
  }

 private:
  void count() {
    if (++calls_ == kill_at_) raise(SIGKILL);
  }

  const int kill_at_;
  std::atomic<int> calls_{0};
};

// A Saver of two variables on two parameter servers saves `first` and then `second`; each step's number
// is in both.
void save_two(const std::string& folder, Storage& storage, std::int64_t first, std::int64_t second) {
  LocalCluster tasks({{"ps", 2}}, std::make_shared<ThreadedRuntime>(
                                      RuntimeOptions{.num_threads = 2, .storage = &storage}));
  Graph g;
  const Output value = g.placeholder(DType::int64, {}, "value");
  const Variable step = g.on("/job:ps/task:0", [&] { return global_step(g); });
  const Variable other =
      g.on("/job:ps/task:1", [&] { return g.variable("other", g.constant<std::int64_t>(0)); });
  const std::vector<Output> set{g.assign(step, value), g.assign(other, value)};
  const Saver saver(g, {step, other}, step, {.keep = {.max_to_keep = 1}});
  Session session(tasks.server("ps", 0).target(), g);
  for (const auto number : {first, second}) {
    session.run(std::vector<Output>{}, {{value, Tensor::scalar(number)}}, set);
    saver.save(session, storage, folder);
  }
}

// Whether the process has ended before the call at which it would have been killed.
bool saves_before_kill(const std::string& folder, int kill_at) {
  const pid_t child = fork();
  if (child == 0) {
    KillingCalls calls(kill_at);
    FileStorage storage(calls);
    save_two(folder, storage, 1, 2);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_kill_at_any_call_of_a_saver_leaves_the_old_or_the_new) {
  int seen[3] = {};
  int kill_at = 1;
  for (bool done = false; !done; ++kill_at) {
    const test::Folder folder;
    done = saves_before_kill(folder.file("new"), kill_at);
    const auto loaded = load_latest_checkpoint(posix_storage(), folder.file("new"));
    const auto step = loaded ? loaded->global_step : 0;
    BOOST_REQUIRE((step >= 0 && step <= 2));
    ++seen[step];
    if (loaded)
      for (const auto* name : {"global_step", "other"})
        BOOST_TEST(loaded->tensors.at(name).scalar<std::int64_t>() == step,
                   name << " at call " << kill_at);
    for (const auto& path : list_checkpoints(posix_storage(), folder.file("new")))
      BOOST_TEST(verify_checkpoint(posix_storage(), path).empty(), path);
    save_two(folder.file("new"), posix_storage(), 3, 4);
    BOOST_TEST(posix_storage().list(folder.file("new")).size() == 3u);
  }
  BOOST_TEST(kill_at > 30);
  for (const int times : seen) BOOST_TEST(times > 0);
}

BOOST_AUTO_TEST_CASE(torn_checkpoint_a_kill_at_any_system_call_leaves_the_old_or_the_new,
                     *boost::unit_test::precondition(can_trace)) {
  check_each_call(2);
}

BOOST_AUTO_TEST_CASE(a_kill_while_a_step_is_saved_once_more_leaves_one_of_its_versions,
                     *boost::unit_test::precondition(can_trace)) {
  check_each_call(1);
}

BOOST_AUTO_TEST_CASE(
    disk_full_a_file_that_cannot_grow_fails_the_saving_and_leaves_the_checkpoint_before_it) {
  const test::Folder folder;
  save(folder.path(), 1, 1);
  rlimit unlimited{};
  BOOST_REQUIRE(getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
  const auto previous = signal(SIGXFSZ, SIG_IGN);
  const rlimit limited{1 << 20, unlimited.rlim_max};
  BOOST_REQUIRE(setrlimit(RLIMIT_FSIZE, &limited) == 0);
  const Checkpoint large{2, {{"w", Tensor::zeros(DType::float32, {1 << 20})}}};
  BOOST_CHECK_EXCEPTION(save_checkpoint(posix_storage(), folder.path(), large), Error,
                        [&](const Error& error) {
                          const std::string what = error.what();
                          return error.code() == Code::resource_exhausted &&
                                 what.find(folder.path()) != std::string::npos &&
                                 what.find("bytes at 1048576") != std::string::npos;
                        });
  BOOST_REQUIRE(setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
  signal(SIGXFSZ, previous);
  BOOST_TEST(is_whole(*load_latest_checkpoint(posix_storage(), folder.path()), 1));
  BOOST_TEST(posix_storage().list(folder.path()).size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
