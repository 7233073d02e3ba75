// Small data to learn, and the models that learn them.
#pragma once

#include <string>
#include <vector>

#include "actors/ensembles/ensemble.h"

namespace actorflow::test {

struct Labelled {
  Tensor x, y;
};

// Points of three classes, which overlap a little: float32 [count, 2], int64 [count].
Labelled three_clouds(std::int64_t count, std::uint64_t seed);
// The iris flowers: every third one, from `first` on, or all others.
Labelled flowers(int first, bool others);

// A compiled perceptron.
Model small_model(std::int64_t classes, std::int64_t hidden = 8, double rate = 0.02);

// A compiled model of two inputs, float32 [1] each, and the columns of a table of two as these.
Model model_of_two_inputs(std::int64_t classes);
std::vector<Tensor> columns_of(const Tensor& table);

FitOptions quiet(int epochs, std::int64_t batch_size = 16);

}  // namespace actorflow::test
