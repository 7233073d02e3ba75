// The data sets that ensembles learn, by name.
#pragma once

#include <string>
#include <vector>

#include "actors/ensembles/ensemble.h"

namespace actorflow {

struct LabelledTensors {
  Tensor x;  // float32: images [n, height, width, channels] from 0 to 1, or rows [n, measures]
  Tensor y;  // int64 [n]
};

struct ExampleSet {
  LabelledTensors train, test;
  std::vector<std::string> classes;

  bool has_images() const { return train.x.shape().rank() == 4; }
};

// digits, mnist, cifar10 or iris; `data`: the folder (of iris the file), "" = the project's own. Throws
// not_found, naming what is missing and how to get it.
ExampleSet load_examples(const std::string& name, const std::string& data);

}  // namespace actorflow
