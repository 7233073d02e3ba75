// What actors/estimator/README.md takes for granted: examples.
#include "actors/actorflow.h"

using namespace actorflow;

void estimators(const InputFn& training, const InputFn& testing) {
  // @snippet@
}
