#include "test/ensembles/support/flowers.h"

#include <cmath>
#include <random>

#include "actors/ensembles/samples.h"
#include "actors/runtime/storage.h"

namespace actorflow::test {

Labelled three_clouds(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto noise = [&random] {  // about normal
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum - 6;
  };
  std::vector<float> x;
  std::vector<std::int64_t> y;
  for (std::int64_t i = 0; i < count; ++i) {
    const double angle = 2.0944 * static_cast<double>(i % 3);
    x.push_back(static_cast<float>(1.5 * std::cos(angle) + noise()));
    x.push_back(static_cast<float>(1.5 * std::sin(angle) + noise()));
    y.push_back(i % 3);
  }
  return {Tensor::of<float>({count, 2}, x), Tensor::of<std::int64_t>({count}, y)};
}

Labelled flowers(int first, bool others) {
  const Dataset all = Dataset::csv({ACTORFLOW_SOURCE_DIR "/apps/data/iris.csv"},
                                   {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}});
  const Tuple columns = read_all(all, {.storage = &posix_storage()});
  RowNumbers rows;
  for (std::int64_t row = 0; row < columns[0].shape()[0]; ++row)
    if ((row % 3 == first) != others) rows.push_back(row);
  const Tuple chosen = rows_at(columns, rows);
  return {chosen[0], chosen[1]};
}

Model small_model(std::int64_t classes, std::int64_t hidden, double rate) {
  Model model = sequential({dense(hidden, tanh), dense(classes)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{rate}, .metrics = {accuracy()}});
  return model;
}

Model model_of_two_inputs(std::int64_t classes) {
  const SymbolicTensor a = input({1}), b = input({1});
  const SymbolicTensor both = concatenate()({dense(4, tanh)(a), dense(4, tanh)(b)});
  Model model({a, b}, {dense(classes)(both)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.05}});
  return model;
}

std::vector<Tensor> columns_of(const Tensor& table) {
  std::vector<float> columns[2];
  for (std::int64_t i = 0; i < table.elements(); ++i) columns[i % 2].push_back(table.values<float>()[i]);
  const std::int64_t rows = table.shape()[0];
  return {Tensor::of<float>({rows, 1}, columns[0]), Tensor::of<float>({rows, 1}, columns[1])};
}

FitOptions quiet(int epochs, std::int64_t batch_size) {
  FitOptions options;
  options.epochs = epochs;
  options.batch_size = batch_size;
  options.verbosity = Verbosity::silent;
  return options;
}

}  // namespace actorflow::test
