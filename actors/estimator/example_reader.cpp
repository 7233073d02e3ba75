#include "actors/estimator/example_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::size_t place_of(const NamedExamples& input, const std::string& key, const std::string& wanted) {
  const auto found = std::ranges::find(input.features, key);
  if (found == input.features.end())
    throw invalid_argument(fmt::format(
        "the model needs the feature '{}' for its input '{}', but the input function gives: {}", key,
        wanted, fmt::join(input.features, ", ")));
  return static_cast<std::size_t>(found - input.features.begin());
}

void expect_names_once(std::vector<std::string> names) {
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    throw invalid_argument(fmt::format("the input function names the feature '{}' twice", *twice));
}

}  // namespace

ExampleReader::ExampleReader(const NamedExamples& input, const std::vector<ModelInput>& wanted,
                             std::size_t labels, bool with_labels, Label label)
    : features_(input.features.size()),
      labels_(labels),
      with_labels_(with_labels),
      label_(std::move(label)) {
  expect_names_once(input.features);
  for (const ModelInput& one : wanted) {
    Made& made = made_.emplace_back(Made{{}, one.of});
    for (const std::string& key : one.keys) made.places.push_back(place_of(input, key, one.name));
  }
}

void ExampleReader::check(const Tuple& example) const {
  const bool complete = example.size() == features_ + labels_;
  if (complete || (!with_labels_ && example.size() == features_)) return;
  throw invalid_argument(
      fmt::format("the input function names {} feature{}, so that an example is {} tensor{} and {} "
                  "label{}, got {}: {}",
                  features_, features_ == 1 ? "" : "s", features_, features_ == 1 ? "" : "s", labels_,
                  labels_ == 1 ? "" : "s", example.size(), describe(example)));
}

Tuple ExampleReader::operator()(const Tuple& example) const {
  check(example);
  Tuple result;
  std::vector<Tensor> own;
  for (const Made& made : made_) {
    own.clear();
    for (const std::size_t place : made.places) own.push_back(example[place]);
    result.push_back(made.of(own));
  }
  for (std::size_t i = features_; with_labels_ && i < example.size(); ++i)
    result.push_back(label_ ? label_(example[i]) : example[i]);
  return result;
}

}  // namespace actorflow
