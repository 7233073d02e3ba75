#include "bench/scale/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dataflow/values/check.h"

namespace actorflow::bench {
namespace {

constexpr double left = 80, top = 50, width = 560, height = 400, legend = 250;
constexpr std::array colours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#7f7f7f"};

// Maps whole decades to a length.
class Axis {
 public:
  void include(double value) {
    low_ = std::min(low_, std::floor(std::log10(value)));
    high_ = std::max(high_, std::ceil(std::log10(value)));
  }
  int low() const { return static_cast<int>(low_); }
  int high() const { return static_cast<int>(std::max(high_, low_ + 1)); }
  // 0 to 1.
  double place(double value) const { return (std::log10(value) - low()) / (high() - low()); }

 private:
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    for (const auto& series : plot.series)
      for (const auto& [x, y] : series.points) {
        x_.include(x);
        y_.include(y);
      }
  }

  std::string to_svg() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"white\"/>\n",
        left + width + legend, top + height + 60);
    label(left + width / 2, 25, "middle", plot_.title);
    label(left + width / 2, top + height + 45, "middle", plot_.x_name);
    label(10, top - 12, "start", plot_.y_name);
    draw_grid();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) draw(plot_.series[i], i);
    return text_ + "</svg>\n";
  }

 private:
  double x(double value) const { return left + width * x_.place(value); }
  double y(double value) const { return top + height * (1 - y_.place(value)); }

  void label(double at_x, double at_y, const char* anchor, const std::string& what) {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x, at_y,
                         anchor, what);
  }
  void line(double x1, double y1, double x2, double y2, const char* style) {
    text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                         x2, y2, style);
  }

  void draw_grid() {
    constexpr auto style = "stroke=\"#cccccc\"";
    for (int decade = x_.low(); decade <= x_.high(); ++decade) {
      const double value = std::pow(10, decade);
      line(x(value), top, x(value), top + height, style);
      label(x(value), top + height + 20, "middle", fmt::format("{:g}", value));
    }
    for (int decade = y_.low(); decade <= y_.high(); ++decade) {
      const double value = std::pow(10, decade);
      line(left, y(value), left + width, y(value), style);
      label(left - 8, y(value) + 4, "end", fmt::format("{:g}", value));
    }
  }

  void draw(const Series& series, std::size_t number) {
    const char* colour = colours[number % colours.size()];
    if (series.is_line) {
      std::string points;
      for (const auto& [at_x, at_y] : series.points)
        points += fmt::format("{:.1f},{:.1f} ", x(at_x), y(at_y));
      text_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                           points, colour);
    }
    for (const auto& [at_x, at_y] : series.points) mark(x(at_x), y(at_y), series, colour);
    const double at = top + 15 + 22 * static_cast<double>(number);
    mark(left + width + 20, at - 4, series, colour);
    label(left + width + 32, at, "start", series.name);
  }

  void mark(double at_x, double at_y, const Series& series, const char* colour) {
    text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n", at_x,
                         at_y, series.is_line ? 3 : 5, series.is_line ? colour : "white", colour);
  }

  const Plot& plot_;
  Axis x_, y_;
  std::string text_;
};

}  // namespace

std::string to_svg(const Plot& plot) {
  ACTORFLOW_CHECK(
      std::ranges::any_of(plot.series, [](const Series& series) { return !series.points.empty(); }));
  return Drawing(plot).to_svg();
}

}  // namespace actorflow::bench
