// Numbers that Keras has made, beside ours.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "actors/models/model.h"

namespace actorflow::test {

// Element i of weight w is sin(i + w + 1) / sqrt(number of inputs); vectors begin as 0.
inline void begin_as_keras(Model& model, const std::vector<std::string>& names) {
  auto weights = model.weights();
  for (std::size_t w = 0; w < names.size(); ++w) {
    Tensor& value = weights.at(names[w]);
    const Shape shape = value.shape();
    value = Tensor::zeros(DType::float32, shape);
    if (shape.rank() < 2) continue;
    const double inputs = static_cast<double>(shape.elements() / shape[shape.rank() - 1]);
    auto values = value.mutable_values<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(std::sin(static_cast<double>(i + w) + 1) / std::sqrt(inputs));
  }
  model.set_weights(weights);
}

// A number of a model: of a metric and an epoch, or of a prediction and its place.
struct KerasRow {
  std::string model, metric;
  std::size_t number = 0;
  double value = 0;
};

// Those of a model in a file of test/models/keras/.
inline std::vector<KerasRow> rows_of_keras(const std::string& model, const std::string& name) {
  std::ifstream file(ACTORFLOW_SOURCE_DIR "/test/models/keras/" + name);
  std::vector<KerasRow> rows;
  for (std::string line; std::getline(file, line);) {
    KerasRow row;
    std::string number, value;
    std::istringstream fields(line);
    for (std::string* field : {&row.model, &number, &row.metric, &value})
      std::getline(fields, *field, ',');
    row.number = std::stoul(number);
    row.value = std::stod(value);
    if (row.model == model) rows.push_back(row);
  }
  return rows;
}

inline void expect_near_keras(const KerasRow& row, double ours) {
  BOOST_TEST(std::abs(ours - row.value) < 1e-5, row.model << " " << row.metric << " " << row.number
                                                          << ": " << ours << ", Keras " << row.value);
}

inline void expect_same_history(const History& history, const std::string& model,
                                const std::string& name) {
  const auto rows = rows_of_keras(model, name);
  BOOST_TEST_REQUIRE(rows.size() >= 6U);
  for (const KerasRow& row : rows)
    if (row.metric != "prediction") expect_near_keras(row, history.of(row.metric).at(row.number - 1));
}

}  // namespace actorflow::test
