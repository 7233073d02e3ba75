#include <algorithm>
#include <cmath>

#include "apps/plots/axis.h"
#include "apps/plots/charts.h"

namespace actorflow {
namespace {

constexpr double width = 760, height = 420;
constexpr Box plot{70, 50, 520, 310};
constexpr std::string_view grid = "#e5e5e5", quiet = "#777";
constexpr std::size_t label_characters = 20;

struct Axes {
  Axis x, y;
  PlotPoint operator()(const PlotPoint& point) const { return {x(point.x), y(point.y)}; }
};

bool is_finite(const PlotPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

Axes axes_of(const std::vector<Series>& series) {
  std::vector<double> x, y;
  for (const Series& one : series)
    for (const PlotPoint& point : one.points)
      if (is_finite(point)) {
        x.push_back(point.x);
        y.push_back(point.y);
      }
  Axes axes{axis_around(x), axis_around(y)};
  axes.x.from = plot.x;
  axes.x.to = plot.x + plot.width;
  axes.y.from = plot.y + plot.height;
  axes.y.to = plot.y;
  return axes;
}

void draw_axes(Svg& svg, const Axes& axes, const LineChart& chart) {
  for (const AxisTick& tick : ticks(axes.y)) {
    const double y = axes.y(tick.value);
    svg.line({plot.x, y}, {plot.x + plot.width, y}, grid);
    svg.text({plot.x - 8, y + 4}, tick.label, {.size = 12, .anchor = Anchor::end, .colour = quiet});
  }
  for (const AxisTick& tick : ticks(axes.x, 8))
    svg.text({axes.x(tick.value), plot.y + plot.height + 20}, tick.label,
             {.size = 12, .anchor = Anchor::middle, .colour = quiet});
  svg.line({plot.x, plot.y + plot.height}, {plot.x + plot.width, plot.y + plot.height}, quiet);
  svg.text({plot.x + plot.width / 2, plot.y + plot.height + 44}, chart.x_label,
           {.anchor = Anchor::middle});
  svg.text({20, plot.y + plot.height / 2}, chart.y_label, {.anchor = Anchor::middle, .upwards = true});
}

// A point that has no neighbour is a dot, since no line goes through it.
void draw_piece(Svg& svg, const std::vector<PlotPoint>& piece, std::string_view colour) {
  if (piece.size() == 1) svg.circle(piece[0], 3, colour);
  if (piece.size() > 1) svg.polyline(piece, colour);
}

void draw(Svg& svg, const Axes& axes, const Series& series, std::string_view colour) {
  std::vector<PlotPoint> piece;
  for (const PlotPoint& point : series.points) {
    if (is_finite(point)) {
      piece.push_back(axes(point));
      continue;
    }
    draw_piece(svg, piece, colour);
    piece.clear();
  }
  draw_piece(svg, piece, colour);
}

void draw_legend(Svg& svg, const std::vector<Series>& series) {
  double y = plot.y + 8;
  for (std::size_t i = 0; i < series.size(); ++i, y += 20) {
    svg.rectangle({plot.x + plot.width + 16, y - 8, 12, 8}, series_colour(i));
    svg.text({plot.x + plot.width + 34, y}, shortened(series[i].name, label_characters), {.size = 12});
  }
}

}  // namespace

std::vector<PlotPoint> by_epoch(const std::vector<double>& values) {
  std::vector<PlotPoint> points;
  for (const double value : values) points.push_back({static_cast<double>(points.size() + 1), value});
  return points;
}

std::string to_svg(const LineChart& chart) {
  const double legend = plot.y + 20 * static_cast<double>(chart.series.size()) + 10;
  Svg svg(width, std::max(height, legend), chart.title);
  svg.text({plot.x, 28}, chart.title, {.size = 17, .bold = true});
  const Axes axes = axes_of(chart.series);
  draw_axes(svg, axes, chart);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    draw(svg, axes, chart.series[i], series_colour(i));
  draw_legend(svg, chart.series);
  return std::move(svg).finish();
}

}  // namespace actorflow
