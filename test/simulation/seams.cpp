// Everything that a simulation must decide goes through a seam (actors/README.md): the sources of
// actors/ name clocks, chance, threads and files only where the real side of a seam is.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(seams)

namespace {

namespace fs = std::filesystem;

struct Rule {
  std::string what;
  std::regex pattern;
  std::set<std::string> allowed;  // files of actors/
};

const std::vector<Rule>& rules() {
  static const std::set<std::string> threads{
      "runtime/scheduler.h", "runtime/scheduler.cpp", "runtime/thread_unit.h", "runtime/thread_unit.cpp",
      "runtime/threaded_runtime.cpp", "client/queue_runner.h", "client/queue_runner.cpp",
      // The programs of replicas in one process; a process of an elastic job, beside the next world's
      // work.
      "strategies/run_on_threads.cpp", "strategies/elastic_task.cpp",
      // A part of a job may not wait for actors, and a model's session does.
      "ensembles/train_member.cpp"};
  static const std::vector<Rule> all{
      {"a clock",
       std::regex(R"((steady|system|high_resolution)_clock::now|clock_gettime|gettimeofday|\btime\()"),
       {"runtime/clock.cpp", "runtime/posix_storage.cpp", "runtime/scheduler.cpp",
        "runtime/thread_unit.cpp"}},
      {"chance", std::regex(R"(random_device|\brand\(|getrandom|getentropy)"), {"runtime/random.cpp"}},
      {"a thread",
       std::regex(R"(std::j?thread\b(?!::id)|std::async|pthread_create|caf::detached|scoped_actor)"),
       threads},
      {"a sleep",
       std::regex(R"(sleep_for|sleep_until|\busleep\(|nanosleep)"),
       {"runtime/storage_tries.h"}},  // where a task has no runtime yet, or a program reads without one
      {"a wait", std::regex(R"(condition_variable|\.wait_for\(|std::latch|std::barrier|std::future)"),
       threads},
      {"the real disk",
       std::regex(R"(posix_storage\(\)|std::[io]?fstream|\bfopen\()"),
       // program_build reads the program itself; distribution a task's number, before it has a runtime;
       // an estimator without a cluster has none that is its own. Clients write traces where they run.
       // Ensembles read and write where their program does, and so does a dataset outside of tasks; what
       // tasks say to each other are a job's records. Only real disks have links, by which two paths of
       // a job may be one, and folders that can be listed.
       {"runtime/storage.h", "runtime/posix_storage.cpp", "runtime/threaded_runtime.cpp",
        "client/record_job.cpp", "client/session.cpp", "input/dataset.cpp", "simulation/sim_cluster.cpp",
        "jobs/engine/program_build.cpp", "jobs/outputs/column_folders.cpp", "jobs/outputs/outputs.cpp",
        "strategies/distribution.cpp", "estimator/model_dir.cpp", "ensembles/ensemble.cpp",
        "ensembles/ensemble_files.cpp", "ensembles/ensemble_onnx.cpp", "ensembles/ensemble_plan.cpp"}},
      // Their order is the library's own: what is sent in such an order differs from machine to machine.
      // The vocabularies of preprocessing sort what they take from one.
      {"an unordered container",
       std::regex(R"(std::unordered_)"),
       {"models/preprocessing/string_lookup.cpp", "models/preprocessing/token_counts.cpp",
        "queues/queue_shard.cpp", "shard/parameter_shard.h", "worker/recent_steps.h"}},
  };
  return all;
}

std::string without_comments(const std::string& text) {
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

std::vector<std::string> escapes(const std::string& file, const std::string& text) {
  std::vector<std::string> found;
  const std::string code = without_comments(text);
  for (const auto& rule : rules()) {
    std::smatch match;
    if (!rule.allowed.contains(file) && std::regex_search(code, match, rule.pattern))
      found.push_back(file + " uses " + rule.what + " ('" + match.str() + "') past the seams");
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_source_of_an_actor_looks_past_the_seams) {
  const fs::path actors = fs::path(ACTORFLOW_SOURCE_DIR) / "actors";
  int sources = 0;
  for (const auto& entry : fs::recursive_directory_iterator(actors)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    if (entry.path().parent_path().filename() == "escapes") continue;  // it stands in front of them all
    ++sources;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    for (const auto& escape : escapes(fs::relative(entry.path(), actors).string(), text.str()))
      BOOST_ERROR(escape);
  }
  BOOST_TEST(sources > 100);
}

BOOST_AUTO_TEST_CASE(an_escape_is_found) {
  BOOST_TEST(escapes("task/peer.cpp", "auto now = std::chrono::steady_clock::now();").size() == 1u);
  BOOST_TEST(escapes("task/peer.cpp", "std::this_thread::sleep_for(1s);").size() == 1u);
  BOOST_TEST(escapes("master/master.h", "std::unordered_map<int, int> all_;").size() == 1u);
  BOOST_TEST(escapes("worker/lane.cpp", "std::random_device()();").size() == 1u);
  BOOST_TEST(escapes("worker/lane.cpp", "// a steady_clock::now() in a comment").empty());
  BOOST_TEST(escapes("runtime/clock.cpp", "return std::chrono::steady_clock::now();").empty());
}

BOOST_AUTO_TEST_SUITE_END()
