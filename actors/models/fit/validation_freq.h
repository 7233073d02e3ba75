// The epochs in which fit() validates.
#pragma once

#include <initializer_list>
#include <vector>

namespace actorflow {

// Every so many epochs, as in {.validation_freq = 2}, or these, as in {.validation_freq = {1, 5}};
// epochs are counted from 1. A value.
class ValidationFreq {
 public:
  // Throw invalid_argument for a number below 1, and for an empty list.
  ValidationFreq(int every = 1);            // NOLINT: a number is a frequency
  ValidationFreq(std::vector<int> epochs);  // NOLINT: and so is a list
  ValidationFreq(std::initializer_list<int> epochs) : ValidationFreq(std::vector(epochs)) {}

  bool includes(int epoch) const;

 private:
  int every_ = 0;  // 0: see epochs_
  std::vector<int> epochs_;
};

}  // namespace actorflow
