// The values of one feature of one example, as the columns want them. Errors name the feature, what was
// expected, and what came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// float32 [size]: numbers of any dtype but string. Throws invalid_argument for text, and for another
// number of values.
Tensor numbers_of(const std::string& key, const Tensor& feature, std::int64_t size);

// Integers, which are none where they are missing (-1). Throws invalid_argument for other dtypes.
std::vector<std::optional<std::int64_t>> integers_of(const std::string& key, const Tensor& feature);
// Text, which is none where it is missing (empty). Throws invalid_argument for other dtypes.
std::vector<std::optional<std::string>> texts_of(const std::string& key, const Tensor& feature);
// Text, or integers as their decimal text.
std::vector<std::optional<std::string>> texts_or_integers_of(const std::string& key,
                                                             const Tensor& feature);

}  // namespace actorflow
