#include "apps/training/reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"
#include "schema/json.h"

namespace actorflow {

namespace {

template <class Run, class Field>
void each_field_of_run(Run& run, const Field& field) {
  field("version", run.version);
  field("data", run.data);
  field("model", run.model);
  field("settings", run.settings);
  field("strategy", run.strategy);
  field("precision", run.precision);
  field("optimizer", run.optimizer);
  field("learning_rate", run.learning_rate);
  field("device", run.device);
  field("workers", run.workers);
  field("batch_size", run.batch_size);
  field("train_steps", run.train_steps);
  field("epochs", run.epochs);
  field("seed", run.seed);
  field("flags", run.flags);
}

// A number that is written as a text of 16 hexadecimal digits.
template <class Number>
struct Hexadecimal {
  Number& number;
};

// Calls `field` with the name and the value of each.
template <class Report, class Field>
void each_field(Report& report, const Field& field) {
  each_field_of_run(report.run, field);
  field("test_accuracy", report.test_accuracy);
  field("test_loss", report.test_loss);
  field("loss", report.loss);
  field("global_step", report.global_step);
  field("examples_per_second", report.examples_per_second);
  field("train_seconds", report.train_seconds);
  field("mode", report.mode);
  field("staleness_mean", report.staleness_mean);
  field("staleness_max", report.staleness_max);
  field("max_lead", report.max_lead);
  field("dropped_gradients", report.dropped_gradients);
  field("uneven_updates", report.uneven_updates);
  field("weights_hash", Hexadecimal{report.weights_hash});
}

JsonValue json_of(const Hexadecimal<const std::uint64_t>& hash) {
  return fmt::format("{:016x}", hash.number);
}
template <class Value>
JsonValue json_of(const Value& value) {
  return value;
}

void read_from(const JsonValue& json, Hexadecimal<std::uint64_t> hash) {
  hash.number = std::stoull(std::get<std::string>(json), nullptr, 16);
}
void read_from(const JsonValue& json, std::uint64_t& seed) {
  const auto* large = std::get_if<std::uint64_t>(&json);
  seed = large ? *large : static_cast<std::uint64_t>(std::get<std::int64_t>(json));
}
void read_from(const JsonValue& json, std::vector<std::string>& texts) {
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&json);  // of an empty list, too
  texts = numbers && numbers->empty() ? std::vector<std::string>{}
                                      : std::get<std::vector<std::string>>(json);
}
template <class Value>
void read_from(const JsonValue& json, Value& value) {
  value = std::get<Value>(json);
}

}  // namespace

std::string to_json(const TrainReport& report) {
  JsonMembers members;
  each_field(report, [&members](const char* name, const auto& value) {
    members.emplace_back(name, json_of(value));
  });
  return json_object(members);
}

TrainReport parse_report(const std::string& json) {
  const JsonMembers members = parse_json_object(json);
  TrainReport report;
  each_field(report, [&members](const char* name, auto&& value) {
    const auto member = std::ranges::find(members, name, &JsonMembers::value_type::first);
    if (member == members.end())
      throw Error(Code::data_loss, fmt::format("a report without '{}'", name));
    try {
      read_from(member->second, value);
    } catch (const std::exception&) {
      throw Error(Code::data_loss, fmt::format("a report with another '{}' than expected", name));
    }
  });
  return report;
}

void expect_report_at(const std::string& path) {
  if (expect_path("--report", path) == "-") return;
  const bool was_there = std::filesystem::exists(path);
  errno = 0;
  if (std::ofstream file(path, std::ios::app); !file)
    throw invalid_argument(
        fmt::format("--report: the report cannot be written to '{}': {}", path, std::strerror(errno)));
  if (!was_there) std::filesystem::remove(path);
}

void write_report(const std::string& path, const std::string& text) {
  if (expect_path("write_report", path) == "-") {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream file(path, std::ios::trunc);
  file << text << std::flush;
  if (!file)
    throw Error(Code::disk_error,
                "the report cannot be written to " + path + ": " + std::strerror(errno));
}

}  // namespace actorflow
