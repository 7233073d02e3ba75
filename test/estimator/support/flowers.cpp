#include "test/estimator/support/flowers.h"

#include "actors/events/event_reader.h"

namespace actorflow::test {
namespace {

const std::vector<std::string> measures{"sepal_length", "sepal_width", "petal_length", "petal_width"};
constexpr std::int64_t num_training = 120;

Dataset flowers() {
  CsvOptions options{.components = {{DType::int64, 4}}};
  for (int column = 3; column >= 0; --column)
    options.components.insert(options.components.begin(), {DType::float32, column});
  return Dataset::csv({ACTORFLOW_SOURCE_DIR "/apps/data/iris.csv"}, options)
      .shuffle({.seed = 1, .each_pass_anew = false});
}

}  // namespace

InputFn training_flowers(std::int64_t batch_size, int num_epochs) {
  return [=] {
    return NamedExamples{.examples = flowers().take(num_training),
                         .features = measures,
                         .batch_size = batch_size,
                         .num_epochs = num_epochs};
  };
}

InputFn testing_flowers() {
  return [] { return NamedExamples{.examples = flowers().skip(num_training), .features = measures}; };
}

std::vector<FeatureColumn> flower_columns() {
  std::vector<FeatureColumn> columns;
  for (const auto& measure : measures) columns.emplace_back(numeric_column(measure));
  return columns;
}

DNNClassifierOptions flower_options(RunConfig config) {
  return {.feature_columns = flower_columns(),
          .hidden_units = {10, 20, 10},
          .n_classes = 3,
          .optimizer = Adagrad{0.05},
          .config = std::move(config)};
}

InputFn points_of_a_line(std::int64_t batch_size, int num_epochs) {
  constexpr std::int64_t count = 30;
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(2 * static_cast<float>(i) / static_cast<float>(count - 1) - 1);
    y.push_back(2 * x.back() + 1);
  }
  return tensor_input_fn({{"x", Tensor::of<float>({count}, x)}}, Tensor::of<float>({count}, y),
                         {.batch_size = batch_size, .num_epochs = num_epochs});
}

LinearRegressor line_of(RunConfig config) {
  return LinearRegressor({.feature_columns = {numeric_column("x")},
                          .optimizer = OptimizerChoice(Momentum{0.1}),
                          .config = std::move(config)});
}

std::vector<Scalar> scalars(const std::string& folder, const std::string& name) {
  std::vector<Scalar> found;
  EventReader reader(posix_storage(), folder);
  for (const Event& event : reader.poll())
    if (const auto* summaries = std::get_if<std::vector<Summary>>(&event.what))
      for (const Summary& summary : *summaries)
        if (summary.tag == name)
          found.push_back(
              {event.step, static_cast<float>(std::get<ScalarSummary>(summary.value).value)});
  return found;
}

}  // namespace actorflow::test
