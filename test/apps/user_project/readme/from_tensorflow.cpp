// What actors/TENSORFLOW.md takes for granted: a model, its input, and flags.
#include "actors/actorflow.h"

using namespace actorflow;

Output model(Output x, Output labels);
Feeds next_batch();

void from_tensorflow(ServerOptions server_options, Graph& g, Output x, Output labels, const std::string& me,
                     int task) {
  Variable step;
  Output loss;
  TrainOp train;
  MonitoredOptions options;
  // @snippet@
}
