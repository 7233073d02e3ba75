#include "apps/training/model_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dataflow/values/error.h"

namespace actorflow {

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"mlp", "lenet", "resnet20"};
  return names;
}

Architecture architecture_of(const ModelChoice& choice, const Shape& image, std::int64_t classes) {
  if (choice.name == "mlp") return mlp(choice.hidden, classes);
  if (choice.name == "lenet") return lenet(image, classes);
  if (choice.name == "resnet20") return resnet20(image, classes);
  throw invalid_argument(fmt::format("there is no model '{}'; there are {}", choice.name,
                                     fmt::join(model_names(), ", ")));
}

std::string describe(const ModelChoice& choice) {
  return choice.name == "mlp"
             ? fmt::format("mlp with hidden layers [{}]", fmt::join(choice.hidden, ","))
             : choice.name;
}

}  // namespace actorflow
