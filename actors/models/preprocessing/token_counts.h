// How often the texts of a dataset have each token. For this folder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/input/dataset.h"

namespace actorflow {

// What is counted in a text: calls the function with each token.
using Tokens =
    std::function<void(const std::string& text, const std::function<void(std::string)>& count)>;

// The tokens of a component of the data, the most frequent first, of equally frequent ones the last in
// the order of their bytes; at most so many of them, for 0 all. Throws as functions of adapt.h.
std::vector<std::string> most_frequent(const Dataset& examples, std::size_t component,
                                       std::int64_t at_most, const Tokens& tokens);

// Throws invalid_argument unless the tensor is one of strings.
void expect_texts(std::string_view caller, const Tensor& texts);

// A map of elements, one component of which is replaced by the function's result. Throws
// invalid_argument for elements without that component.
Dataset::Map map_of_component(std::string_view caller, std::size_t component,
                              std::function<Tensor(const Tensor&)> function);

}  // namespace actorflow
