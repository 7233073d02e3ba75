// Nested values that are written as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace actorflow {

// A value; the members of an object keep their order.
//
//   JsonTree(JsonTree::Object{{"kind", "Job"}, {"ports", JsonTree::List{80, 443}}})
class JsonTree {
 public:
  using List = std::vector<JsonTree>;
  using Object = std::vector<std::pair<std::string, JsonTree>>;

  JsonTree(bool value) : value_(value) {}
  JsonTree(int value) : value_(std::int64_t{value}) {}
  JsonTree(std::int64_t value) : value_(value) {}
  JsonTree(const char* value) : value_(std::string(value)) {}
  JsonTree(std::string value) : value_(std::move(value)) {}
  JsonTree(List value) : value_(std::move(value)) {}
  JsonTree(Object value) : value_(std::move(value)) {}

  // In one line; or with that many blanks for each level, and a final newline. Throws invalid_argument
  // for a text that is not UTF-8.
  std::string to_string() const;
  std::string to_string(int indentation) const;

  const std::variant<bool, std::int64_t, std::string, List, Object>& value() const { return value_; }

 private:
  std::variant<bool, std::int64_t, std::string, List, Object> value_;
};

}  // namespace actorflow
