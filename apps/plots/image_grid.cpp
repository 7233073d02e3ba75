#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string_view>
#include <vector>

#include "apps/plots/charts.h"
#include "dataflow/values/error.h"
#include "schema/event.h"

namespace actorflow {
namespace {

constexpr double tile = 84, gap = 14, line_height = 15, top = 50;
constexpr std::size_t caption_characters = 14;

std::vector<std::uint8_t> bytes_of(const Tensor& image) {
  if (image.dtype() == DType::uint8) {
    const auto values = image.values<std::uint8_t>();
    return {values.begin(), values.end()};
  }
  std::vector<std::uint8_t> bytes;
  for (const float value : image.values<float>()) {
    const float light = std::isfinite(value) ? std::clamp(value, 0.0F, 1.0F) : 0;
    bytes.push_back(static_cast<std::uint8_t>(std::lround(light * 255)));
  }
  return bytes;
}

std::string png_of(const Tensor& image) {
  const Shape& shape = image.shape();
  const bool is_image = shape.rank() == 2 || shape.rank() == 3;
  if (!is_image || (image.dtype() != DType::uint8 && image.dtype() != DType::float32))
    throw invalid_argument(
        fmt::format("expected an image, uint8 or float32 of [height, width] or "
                    "[height, width, channels], got {}",
                    image.describe()));
  const int channels = shape.rank() == 2 ? 1 : static_cast<int>(shape[2]);
  return encode_image(static_cast<int>(shape[0]), static_cast<int>(shape[1]), channels, bytes_of(image))
      .png;
}

// As large as the tile allows, in its middle.
Box box_of(const Shape& shape, PlotPoint corner) {
  const auto height = static_cast<double>(shape[0]), width = static_cast<double>(shape[1]);
  const double scale = tile / std::max(height, width);
  return {corner.x + (tile - width * scale) / 2, corner.y + (tile - height * scale) / 2, width * scale,
          height * scale};
}

int lines_of(const std::string& caption) {
  return 1 + static_cast<int>(std::ranges::count(caption, '\n'));
}

// Below the tile with that corner.
void draw_caption(Svg& svg, PlotPoint corner, std::string_view caption) {
  double y = corner.y + tile + 2 + line_height;
  for (const auto line : std::views::split(caption, '\n')) {
    svg.text({corner.x + tile / 2, y},
             shortened(std::string_view(line.begin(), line.end()), caption_characters),
             {.size = 12, .anchor = Anchor::middle});
    y += line_height;
  }
}

}  // namespace

std::string to_svg(const ImageGrid& grid) {
  if (grid.columns < 1)
    throw invalid_argument(
        fmt::format("expected a column or more for the images, got {}", grid.columns));
  const std::size_t columns = static_cast<std::size_t>(grid.columns), count = grid.images.size();
  const std::size_t rows = (count + columns - 1) / columns;
  const double width = gap + (tile + gap) * static_cast<double>(std::clamp(
                                                count, std::min<std::size_t>(columns, 5), columns));
  int lines = 1;
  for (const auto& image : grid.images) lines = std::max(lines, lines_of(image.caption));
  const double row_height = tile + line_height * lines + 9 + gap;
  Svg svg(width, top + row_height * static_cast<double>(rows) + gap, grid.title);
  svg.text({gap, 28}, grid.title, {.size = 17, .bold = true});
  for (std::size_t i = 0; i < count; ++i) {
    const PlotPoint corner{gap + (tile + gap) * static_cast<double>(i % columns),
                           top + row_height * static_cast<double>(i / columns)};
    const auto& [image, text] = grid.images[i];
    const std::string png = png_of(image);
    svg.image(box_of(image.shape(), corner), png);
    draw_caption(svg, corner, text);
  }
  return std::move(svg).finish();
}

}  // namespace actorflow
