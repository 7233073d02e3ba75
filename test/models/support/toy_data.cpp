#include "test/models/support/toy_data.h"

#include <algorithm>

namespace actorflow::test {

std::pair<Tensor, Tensor> points_of_a_line(std::int64_t count) {
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(2 * static_cast<float>(i) / static_cast<float>(count - 1) - 1);
    y.push_back(2 * x.back() + 1);
  }
  return {Tensor::of<float>({count, 1}, x), Tensor::of<float>({count, 1}, y)};
}

Layer constant_layer(double value) {
  return {"constant", [value](LayerScope& scope, Output x) {
            return x + scope.weight("value", {1}, filled_with(value));
          }};
}

FitOptions quiet(FitOptions options) {
  options.verbosity = Verbosity::silent;
  return options;
}

bool same(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && identical(left.second, right.second);
  });
}

}  // namespace actorflow::test
