// The order in which blocks of a GPU take the tiles of a matrix.
#pragma once

#include <cstdint>

#include "kernels/devices/host_device.h"

namespace actorflow {

// Bands of a few rows of tiles, column by column: blocks that run at the same time then read and write
// pieces of some KiB that lie side by side, whichever way the matrix lies in memory.
struct TileOrder {
  static constexpr std::int64_t band_rows = 8;
  std::int64_t rows, columns;  // of tiles

  // REQUIRES: 0 <= tile < rows * columns.
  ACTORFLOW_HOST_DEVICE void place_of(std::int64_t tile, std::int64_t& row, std::int64_t& column) const {
    const std::int64_t first = tile / (band_rows * columns) * band_rows;
    const std::int64_t here = rows - first < band_rows ? rows - first : band_rows;
    const std::int64_t in_band = tile - first * columns;
    row = first + in_band % here;
    column = in_band / here;
  }
};

}  // namespace actorflow
