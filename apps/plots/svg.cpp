#include "apps/plots/svg.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/plots/utf8.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The shortest decimal number; 0 for what is not finite, which SVG lacks.
std::string pixels(double value) {
  if (!std::isfinite(value)) return "0";
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0 : rounded);
}

std::string_view escaped(char32_t character) {
  switch (character) {
    case U'&':
      return "&amp;";
    case U'<':
      return "&lt;";
    case U'>':
      return "&gt;";
    case U'"':
      return "&quot;";
    case U'\'':
      return "&#39;";
    default:
      return {};
  }
}

bool xml_has(char32_t character) {
  return character >= 0x20 ? character != 0xfffe && character != 0xffff
                           : character == U'\t' || character == U'\n';
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k > bytes.size() - i ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string place_of(const Box& box) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", pixels(box.x), pixels(box.y),
                     pixels(box.width), pixels(box.height));
}

constexpr std::array<std::string_view, 3> anchors = {"start", "middle", "end"};

}  // namespace

std::string xml_text(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const Utf8Character next = take_character(text);
    const std::string_view escape = escaped(next.value);
    if (xml_has(next.value)) xml += escape.empty() ? next.bytes : escape;
  }
  return xml;
}

std::string shortened(std::string_view text, std::size_t characters) {
  std::string whole, beginning;
  for (std::size_t count = 1; !text.empty(); ++count) {
    if (count == characters) beginning = whole + "…";
    if (count > characters) return beginning;
    whole += take_character(text).bytes;
  }
  return whole;
}

Svg::Svg(double width, double height, std::string_view title)
    : text_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
          "height=\"{1}\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>{2}</title>\n",
          pixels(width), pixels(height), xml_text(title))) {
  rectangle({0, 0, width, height}, "#fff");
}

void Svg::line(PlotPoint from, PlotPoint to, std::string_view colour, double width) {
  text_ +=
      fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                  pixels(from.x), pixels(from.y), pixels(to.x), pixels(to.y), colour, pixels(width));
}

void Svg::polyline(const std::vector<PlotPoint>& points, std::string_view colour, double width) {
  text_ += "<polyline points=\"";
  for (const PlotPoint& point : points) text_ += fmt::format("{},{} ", pixels(point.x), pixels(point.y));
  text_ +=
      fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"/>\n",
                  colour, pixels(width));
}

void Svg::circle(PlotPoint centre, double radius, std::string_view colour) {
  text_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", pixels(centre.x),
                       pixels(centre.y), pixels(radius), colour);
}

void Svg::rectangle(const Box& box, std::string_view colour) {
  text_ += fmt::format("<rect {} fill=\"{}\"/>\n", place_of(box), colour);
}

void Svg::text(PlotPoint at, std::string_view text, const TextStyle& style) {
  const std::string x = pixels(at.x), y = pixels(at.y);
  text_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}{}>{}</text>\n", x, y,
      pixels(style.size), anchors[static_cast<std::size_t>(style.anchor)], style.colour,
      style.bold ? " font-weight=\"bold\"" : "",
      style.upwards ? fmt::format(" transform=\"rotate(-90 {} {})\"", x, y) : "", xml_text(text));
}

void Svg::image(const Box& box, std::string_view png) {
  text_ +=
      fmt::format("<image {} style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
                  place_of(box), base64(png));
}

std::string Svg::finish() && { return std::move(text_) + "</svg>\n"; }

std::string_view series_colour(std::size_t number) {
  static constexpr std::array<std::string_view, 10> colours = {
      "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
      "#56b4e9", "#666666", "#8c510a", "#999933", "#222222"};
  return colours[number % colours.size()];
}

void save_plot(const std::string& folder, const std::string& name, const std::string& svg) {
  const std::filesystem::path path = std::filesystem::path(folder) / (name + ".svg");
  std::error_code ignored;  // the file's own error says more
  std::filesystem::create_directories(folder, ignored);
  std::ofstream file(path, std::ios::trunc | std::ios::binary);
  file << svg << std::flush;
  if (!file)
    throw Error(Code::disk_error, fmt::format("the picture cannot be written to {}: {}", path.string(),
                                              std::strerror(errno)));
}

}  // namespace actorflow
