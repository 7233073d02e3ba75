#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

using Format = std::function<std::string(const NamedTensors&)>;

// The numbers of a small float32 or int64 tensor, the type of any other.
std::string brief(const Tensor& value) {
  constexpr std::int64_t most = 8;
  const auto list = [](auto values) {
    return values.size() == 1 ? fmt::format("{}", values[0]) : fmt::format("{}", values);
  };
  if (value.elements() <= most && value.dtype() == DType::float32) return list(value.values<float>());
  if (value.elements() <= most && value.dtype() == DType::int64)
    return list(value.values<std::int64_t>());
  return value.describe();
}

std::string plain_line(const NamedTensors& tensors) {
  std::string line;
  for (const auto& [name, value] : tensors)
    line += fmt::format("{}{} = {}", line.empty() ? "" : ", ", name, brief(value));
  return line;
}

class LoggingTensor : public SessionHook {
 public:
  LoggingTensor(std::vector<std::pair<std::string, Output>> tensors, Every every, Format format)
      : tensors_(std::move(tensors)), timer_(every), format_(std::move(format)) {}

  RunArgs before_run(RunContext& context) override {
    RunArgs args;
    if (timer_.is_due(steps_, context.now()))
      for (const auto& entry : tensors_) args.fetches.push_back(entry.second);
    return args;
  }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    if (!results.empty()) {
      NamedTensors values;
      for (std::size_t i = 0; i < results.size(); ++i)
        values.emplace_back(tensors_[i].first, results[i]);
      spdlog::info("{}", format_(values));
      timer_.done(steps_, context.now());
    }
    ++steps_;
  }

 private:
  std::vector<std::pair<std::string, Output>> tensors_;
  StepTimer timer_;
  Format format_;
  std::int64_t steps_ = 0;  // of this replica
};

}  // namespace

HookRef logging_tensor(std::vector<std::pair<std::string, Output>> tensors, Every every, Format format) {
  return std::make_shared<LoggingTensor>(std::move(tensors), every,
                                         format ? std::move(format) : plain_line);
}

}  // namespace actorflow
