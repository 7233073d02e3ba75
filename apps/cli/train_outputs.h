// What training writes, as the flags say.
#pragma once

#include "apps/cli/train_flags.h"
#include "apps/training/reports/report.h"
#include "apps/training/train_replica.h"

namespace actorflow {

// Throws UsageError if a task cannot save into the folder of `options`: it is a file or cannot be
// written.
void check_checkpoint_folder(const TrainOptions& options);
// At the chief, before training: checks all folders and files that it will write, the report included.
// Writes a description of the model beside the checkpoints (model_file.h), and throws UsageError if
// checkpoints that are there belong to another model. Logs how many examples a step of several workers
// takes, and the learning rate: neither follows from the number of workers in silence.
void prepare_outputs(const TrainOptions& options, const TrainFlags& flags, const LabelledData& data,
                     int workers);

// Prints the result of training on standard output, and writes the report that the flags ask for, with
// what was run.
void publish(TrainReport report, const TrainOptions& options, const TrainFlags& flags,
             const LabelledData& data, int workers);

}  // namespace actorflow
