// Training whose weight tells how many steps were made, for the tests of callbacks.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/actors/support/memory_storage.h"

namespace actorflow::test {

std::shared_ptr<Runtime> runtime_on(Storage& disk);

// A model whose only weight becomes smaller by 1 in each step: the number of steps, negative.
Model step_counter(Storage& disk = posix_storage());
float weight_of(Model& model);

// Batches of 1.
TrainingData examples(std::int64_t count = 1);
FitOptions with(Callbacks callbacks, int epochs);

// A callback that makes up the values of "val_loss", one epoch after the other.
CallbackRef made_up(std::vector<double> values);

void fill(MemoryStorage& disk, bool is_full);
// A callback that fills the disk in these epochs.
CallbackRef full_in(MemoryStorage& disk, std::set<int> epochs);

std::string text_of(const MemoryStorage& disk, const std::string& path);
// Of all checkpoints of the folder, each of which is whole.
std::vector<std::int64_t> saved_steps(Storage& disk, const std::string& folder);

}  // namespace actorflow::test
