#include "dataflow/cluster/device_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

[[noreturn]] void fail(std::string_view text, const std::string& problem) {
  throw invalid_argument(
      "device name '" + std::string(text) + "': " + problem +
      "; expected parts of /job:NAME/replica:N/task:N/device:TYPE:N, or /cpu:N, /gpu:N");
}

template <class T>
void set_once(std::optional<T>& field, T value, std::string_view part, std::string_view text) {
  if (field) fail(text, "'" + std::string(part) + "' sets a field for the second time");
  field = std::move(value);
}

int parse_number(std::string_view digits, std::string_view part, std::string_view text) {
  int number = -1;
  const auto* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end || number < 0)
    fail(text, "'" + std::string(part) + "' needs a number of 0 or more");
  return number;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// "GPU:0", or "GPU" with the index left open.
void parse_device(DeviceName& name, std::string_view value, std::string_view part,
                  std::string_view text) {
  const auto colon = value.find(':');
  const auto type = value.substr(0, colon);
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  if (type.empty() || !std::ranges::all_of(type, is_letter))
    fail(text, "'" + std::string(part) + "' needs a type of device");
  set_once(name.type, upper(type), part, text);
  if (colon != std::string_view::npos)
    set_once(name.index, parse_number(value.substr(colon + 1), part, text), part, text);
}

void parse_part(DeviceName& name, std::string_view part, std::string_view text) {
  const auto colon = part.find(':');
  const auto key = part.substr(0, colon);
  const auto value = colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
  if (key == "job") {
    if (!is_job_name(value)) fail(text, "'" + std::string(part) + "' is no name of a job");
    set_once(name.job, std::string(value), part, text);
  } else if (key == "replica") {
    set_once(name.replica, parse_number(value, part, text), part, text);
  } else if (key == "task") {
    set_once(name.task, parse_number(value, part, text), part, text);
  } else if (key == "device") {
    parse_device(name, value, part, text);
  } else if (upper(key) == "CPU" || upper(key) == "GPU") {
    parse_device(name, part, part, text);
  } else {
    fail(text, "'" + std::string(part) + "' is not understood");
  }
}

}  // namespace

bool is_job_name(std::string_view name) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c); };
  const auto is_inner = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
  return !name.empty() && is_letter(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, is_inner);
}

DeviceName DeviceName::parse(std::string_view text) {
  DeviceName name;
  for (auto rest = text; !rest.empty();) {
    if (rest[0] != '/') fail(text, "a part begins with '/', but '" + std::string(rest) + "' does not");
    const auto part = rest.substr(1, rest.find('/', 1) - 1);
    parse_part(name, part, text);
    rest.remove_prefix(part.size() + 1);
  }
  return name;
}

std::string DeviceName::to_string() const {
  std::string text;
  if (job) text += "/job:" + *job;
  if (replica) text += "/replica:" + std::to_string(*replica);
  if (task) text += "/task:" + std::to_string(*task);
  if (type) text += "/device:" + *type;
  if (type && index) text += ":" + std::to_string(*index);
  return text;
}

// An index belongs to its type: an inner type without an index leaves the index open.
DeviceName DeviceName::merge(const DeviceName& outer, const DeviceName& inner) {
  const bool same_type = !inner.type || inner.type == outer.type;
  return {.job = inner.job ? inner.job : outer.job,
          .replica = inner.replica ? inner.replica : outer.replica,
          .task = inner.task ? inner.task : outer.task,
          .type = inner.type ? inner.type : outer.type,
          .index = inner.index || !same_type ? inner.index : outer.index};
}

bool DeviceName::matches(const DeviceName& full) const {
  return (!job || job == full.job) && (!replica || replica == full.replica) &&
         (!task || task == full.task) && (!type || type == full.type) && (!index || index == full.index);
}

DeviceName task_part(const DeviceName& device) {
  return {.job = device.job, .replica = device.replica, .task = device.task, .type = {}, .index = {}};
}

bool names_no_task(const DeviceName& device) { return !device.job && !device.replica && !device.task; }

std::string TaskName::to_string() const { return "/job:" + job + "/task:" + std::to_string(index); }

bool may_be_on(const DeviceName& wanted, const TaskName& task) {
  const DeviceName here{.job = task.job, .replica = 0, .task = task.index, .type = {}, .index = {}};
  return task_part(wanted).matches(here);
}

TaskName TaskName::parse(std::string_view text) {
  const auto name = DeviceName::parse(text);
  if (!name.job || !name.task)
    throw invalid_argument("'" + std::string(text) +
                           "' does not name a task; expected /job:NAME/task:N");
  return {*name.job, *name.task};
}

}  // namespace actorflow
