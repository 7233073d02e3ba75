#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/plots/axis.h"
#include "apps/plots/charts.h"

namespace actorflow {
namespace {

constexpr double width = 720, left = 150, right = 80, top = 50, row = 24, thickness = 16;
constexpr std::size_t label_characters = 20;

// Grows to the right, from where bars begin.
Axis axis_of(const BarChart& chart) {
  std::vector<double> values{chart.from};
  for (const Bar& bar : chart.bars) values.push_back(bar.value);
  Axis axis = axis_around(values);
  axis.from = left;
  axis.to = width - right;
  return axis;
}

void draw_axis(Svg& svg, const Axis& axis, double bottom) {
  for (const AxisTick& tick : ticks(axis)) {
    const double x = axis(tick.value);
    svg.line({x, top}, {x, bottom}, "#e5e5e5");
    svg.text({x, bottom + 18}, tick.label, {.size = 12, .anchor = Anchor::middle, .colour = "#777"});
  }
}

void draw(Svg& svg, const Axis& axis, const Bar& bar, double from, double y) {
  svg.text({left - 10, y + 13}, shortened(bar.label, label_characters),
           {.anchor = Anchor::end, .bold = bar.marked});
  if (!std::isfinite(bar.value)) return;
  const double begin = axis(from), end = axis(bar.value);
  svg.rectangle({std::min(begin, end), y, std::abs(end - begin), thickness},
                series_colour(bar.marked ? 1 : 0));
  svg.text({std::max(begin, end) + 8, y + 13}, short_number(bar.value), {.bold = bar.marked});
}

}  // namespace

std::string to_svg(const BarChart& chart) {
  const double bottom = top + row * static_cast<double>(chart.bars.size());
  Svg svg(width, bottom + 60, chart.title);
  svg.text({20, 28}, chart.title, {.size = 17, .bold = true});
  const Axis axis = axis_of(chart);
  draw_axis(svg, axis, bottom);
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    draw(svg, axis, chart.bars[i], chart.from, top + row * static_cast<double>(i) + 4);
  const std::string begin =
      chart.from == 0 ? "" : fmt::format(" (bars begin at {})", short_number(chart.from));
  svg.text({(left + width - right) / 2, bottom + 44}, chart.label + begin, {.anchor = Anchor::middle});
  return std::move(svg).finish();
}

}  // namespace actorflow
