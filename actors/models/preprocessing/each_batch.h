// A component of a dataset's elements, batch by batch. For this folder only.
#pragma once

#include <cstddef>
#include <functional>

#include "actors/input/dataset.h"

namespace actorflow {

// Calls the function with the values of many elements at a time, [elements, ...], until the data end.
// Throws what reading throws, and invalid_argument if there are no elements, or none has that component.
void for_each_batch(const Dataset& elements, std::size_t component,
                    const std::function<void(const Tensor& batch)>& function);

}  // namespace actorflow
