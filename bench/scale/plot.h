// A picture of curves over logarithmic axes, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace actorflow::bench {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // positive
  bool is_line = true;                            // otherwise marks only
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<Series> series;
};

// REQUIRES: there is a point.
std::string to_svg(const Plot& plot);

}  // namespace actorflow::bench
