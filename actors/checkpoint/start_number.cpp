#include "actors/checkpoint/start_number.h"

#include <fmt/format.h>

#include "actors/checkpoint/number_file.h"

namespace actorflow {

std::uint32_t take_start_number(Storage& storage, const std::string& folder, const TaskName& task) {
  const std::string path = fmt::format("{}/starts/{}-{}", folder, task.job, task.index);
  const auto number = read_number(storage, path).value_or(0) + 1;
  write_number(storage, path, number);
  return static_cast<std::uint32_t>(number);
}

}  // namespace actorflow
