#include "apps/cli/cluster_file.h"

#include <cctype>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dataflow/error.h"

namespace actorflow {
namespace {

using nlohmann::json;

Error malformed(const std::string& what) {
  return invalid_argument("cluster: " + what +
                          R"(; expected {"ps": ["host:port", ...], "worker": [...]})");
}

std::string address_of(const std::string& job, const json& value) {
  if (!value.is_string())
    throw malformed("job '" + job + "' has an address that is not a string: " + value.dump());
  return value.get<std::string>();
}

int index_of(const std::string& job, const std::string& key) {
  int index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size())
    throw malformed("job '" + job + "' has the task index '" + key + "', which is not a number");
  return index;
}

ClusterSpec::Tasks tasks_of(const std::string& job, const json& value) {
  ClusterSpec::Tasks tasks;
  if (value.is_array())
    for (const auto& address : value)
      tasks.emplace(static_cast<int>(tasks.size()), address_of(job, address));
  else if (value.is_object())
    for (const auto& [key, address] : value.items())
      tasks[index_of(job, key)] = address_of(job, address);
  else
    throw malformed("job '" + job + "' is neither a list nor a map of addresses");
  return tasks;
}

}  // namespace

ClusterSpec parse_cluster(const std::string& text) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::parse_error& error) {
    throw malformed(error.what());
  }
  if (root.is_object() && root.contains("cluster")) root = json(root["cluster"]);
  if (!root.is_object()) throw malformed("the JSON text is not an object");
  ClusterSpec::Jobs jobs;
  for (const auto& [job, value] : root.items()) jobs[job] = tasks_of(job, value);
  return ClusterSpec(std::move(jobs));
}

ClusterSpec read_cluster(const std::string& text_or_file) {
  const auto first = text_or_file.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text_or_file[first] == '{') return parse_cluster(text_or_file);
  std::ifstream file(text_or_file);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(Code::not_found, "cluster: the file '" + text_or_file + "' cannot be read");
  return parse_cluster(text.str());
}

}  // namespace actorflow
