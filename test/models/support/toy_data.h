// Small data and models whose numbers a person can compute.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "actors/models/model.h"

namespace actorflow::test {

// y = 2 x + 1 for x evenly from -1 to 1.
std::pair<Tensor, Tensor> points_of_a_line(std::int64_t count);

// x plus a weight that begins as `value`.
Layer constant_layer(double value);

// The options without progress on standard output.
FitOptions quiet(FitOptions options = {});

bool same(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b);

}  // namespace actorflow::test
