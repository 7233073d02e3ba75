// What is a model's own, as texts that people write: {"hidden", "512,128"}.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {

using ModelSettings = std::map<std::string, std::string>;

// The settings of "key=value" texts. Throws invalid_argument for one that is none.
ModelSettings parse_settings(const std::vector<std::string>& texts);
// "hidden=512,128 layers=2".
std::string to_string(const ModelSettings& settings);

// The settings of a model as numbers. Everything throws invalid_argument that names the model, what it
// has or takes, and what came.
class SettingsReader {
 public:
  // Those that are not given are the defaults, which also say which there are.
  SettingsReader(std::string model, const ModelSettings& given, const ModelSettings& defaults);

  // Of 1 or more, divided by commas; "" is none.
  std::vector<std::int64_t> numbers(const std::string& name) const;
  std::int64_t number(const std::string& name) const;

 private:
  Error not_numbers(const std::string& name, const char* expected) const;

  std::string model_;
  ModelSettings settings_;
};

}  // namespace actorflow
