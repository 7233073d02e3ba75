#include "schema/cluster_json.h"

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/json.h"
#include "schema/text_file.h"

namespace actorflow {
namespace {

// Gathers what is wrong with a text.
class Mistakes {
 public:
  void add(const std::string& mistake) { lines_ += (lines_.empty() ? "" : "\n") + mistake; }
  // What `body` throws is a mistake too.
  template <class Body>
  void gather(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      add(error.what());
    }
  }
  void throw_if_any(const std::string& where, const std::string& expected) const {
    if (!lines_.empty()) throw invalid_argument(where + ": " + lines_ + "\nexpected " + expected);
  }

 private:
  std::string lines_;
};

constexpr int max_depth = 32;
constexpr auto cluster_form = R"({"ps": ["host:port", ...], "worker": [...]})";
constexpr auto tf_config_form = R"({"cluster": {"chief": ["host:port"], "ps": [...], "worker": [...]}, )"
                                R"("task": {"type": "worker", "index": 0}})";

std::optional<int> number_in(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string address_of(const std::string& job, const nlohmann::json& value, Mistakes& mistakes) {
  if (value.is_string()) return value.get<std::string>();
  mistakes.add("job '" + job + "' has an address that is not a string: " + value.dump());
  return "unknown:0";
}

ClusterSpec::Tasks tasks_of(const std::string& job, const nlohmann::json& value, Mistakes& mistakes) {
  ClusterSpec::Tasks tasks;
  if (value.is_array()) {
    for (const auto& address : value)
      tasks.emplace(static_cast<int>(tasks.size()), address_of(job, address, mistakes));
  } else if (value.is_object()) {
    for (const auto& [key, address] : value.items())
      if (const auto index = number_in(key)) {
        if (!tasks.emplace(*index, address_of(job, address, mistakes)).second)
          mistakes.add("job '" + job + "' has the task index " + std::to_string(*index) + " twice");
      } else
        mistakes.add("job '" + job + "' has the task index '" + key + "', which is not a number");
  } else {
    mistakes.add("job '" + job + "' is neither a list nor a map of addresses: " + value.dump());
  }
  return tasks;
}

ClusterSpec::Jobs jobs_of(const nlohmann::json& cluster, Mistakes& mistakes) {
  ClusterSpec::Jobs jobs;
  if (!cluster.is_object()) {
    mistakes.add("the cluster is not an object of jobs: " + cluster.dump());
    return jobs;
  }
  for (const auto& [job, value] : cluster.items()) jobs[job] = tasks_of(job, value, mistakes);
  return jobs;
}

// Refuses what is nested too deep, and objects that name a thing twice, of which JSON keeps one.
nlohmann::json parse(const std::string& where, const std::string& text) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int depth, Event event, const nlohmann::json& value) {
    if (depth > max_depth)
      throw invalid_argument(where + ": nested deeper than " + std::to_string(max_depth) + " levels");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      throw invalid_argument(where + ": " + value.dump() + " is named twice in one object");
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::exception& error) {  // a number that is too large is no parse_error
    throw invalid_argument(where + ": no JSON: " + json_mistake(error.what()));
  }
}

// Nothing if there is no such task; then `mistakes` says why.
std::optional<TaskName> task_of(const nlohmann::json& root, Mistakes& mistakes) {
  const auto missing = [&mistakes](const std::string& what) {
    mistakes.add(what);
    return std::nullopt;
  };
  const auto task = root.find("task");
  if (task == root.end() || !task->is_object()) return missing("there is no object \"task\"");
  const nlohmann::json type = task->value("type", nlohmann::json());
  const nlohmann::json index = task->value("index", nlohmann::json());
  if (!type.is_string()) mistakes.add("the task's \"type\" must be a string, got " + type.dump());
  const auto number = number_in(index.is_string() ? index.get<std::string>() : index.dump());
  if (!number) mistakes.add("the task's \"index\" must be a number, got " + index.dump());
  if (!number || !type.is_string()) return std::nullopt;
  return TaskName{type.get<std::string>(), *number};
}

// Managed services set one without a cluster for a job on one machine. What cannot be read is the matter
// of parse_tf_config().
bool is_for_one_machine(const std::string& text) try {
  const nlohmann::json root = parse("TF_CONFIG", text);
  return root.is_object() && (!root.contains("cluster") || root["cluster"].empty());
} catch (const Error&) {
  return false;
}

}  // namespace

ClusterSpec parse_cluster(const std::string& text) {
  const nlohmann::json root = parse("cluster", text);
  Mistakes mistakes;
  auto jobs = jobs_of(root.is_object() && root.contains("cluster") ? root["cluster"] : root, mistakes);
  ClusterSpec cluster;
  mistakes.gather([&] { cluster = ClusterSpec(std::move(jobs)); });
  mistakes.throw_if_any("cluster", cluster_form);
  return cluster;
}

ClusterSpec read_cluster(const std::string& text_or_file) {
  const auto first = text_or_file.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text_or_file[first] == '{') return parse_cluster(text_or_file);
  const auto text = read_text_file(text_or_file);
  if (!text) throw Error(Code::not_found, "cluster: the file '" + text_or_file + "' cannot be read");
  return parse_cluster(*text);
}

std::optional<std::string> tf_config() {
  const char* value = std::getenv("TF_CONFIG");
  if (!value || !*value) return std::nullopt;
  return is_for_one_machine(value) ? std::nullopt : std::optional<std::string>(value);
}

TaskConfig parse_tf_config(const std::string& text) {
  const nlohmann::json root = parse("TF_CONFIG", text);
  Mistakes mistakes;
  TaskConfig config;
  if (!root.is_object() || !root.contains("cluster")) {
    mistakes.add("there is no object \"cluster\"");
    task_of(root.is_object() ? root : nlohmann::json::object(), mistakes);
  } else {
    auto jobs = jobs_of(root["cluster"], mistakes);
    const auto task = task_of(root, mistakes);
    mistakes.gather([&] {
      if (task)
        config = TaskConfig::make(std::move(jobs), *task);
      else [[maybe_unused]]
        const ClusterSpec checked(std::move(jobs));
    });
  }
  mistakes.throw_if_any("TF_CONFIG", tf_config_form);
  return config;
}

}  // namespace actorflow
