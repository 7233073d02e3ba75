// Small inputs for the map/reduce jobs of scenarios: some thousand records, the same bytes each time.
// Files of CSV for q1 and q3 have the columns of TPC-H.
#pragma once

#include "apps/scenario/scenario_jobs.h"

namespace actorflow {

// Records of 100 bytes in two files; a third of them has one key.
ScenarioFiles records_to_sort();
// left.csv and right.csv, rows "key,value": of some keys several on either side, of some on one side
// only, and one with a fifth of all rows.
ScenarioFiles tables_to_join();
// Points of 20 doubles around a few centres.
ScenarioFiles points_to_group();
// Records of 20 doubles and a label, 0 or 1.
ScenarioFiles labelled_examples();
// Lines "label feature feature ..." with features from 1 to 60, the lower of which speak for 1.
ScenarioFiles sparse_examples();
// Numbers, one in a line.
ScenarioFiles numbers_as_text();
// lineitem.csv.
ScenarioFiles line_items();
// customer.csv, orders.csv and lineitem.csv.
ScenarioFiles tables_of_orders();

}  // namespace actorflow
