// Files of one array behind a header: IDX and NumPy's .npy. Their rows are fixed records
// (record_blocks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dataflow/values/shape.h"
#include "schema/formats/record_blocks.h"

namespace actorflow {

struct ArrayHeader {
  std::size_t header_bytes = 0;
  std::string element;        // as layouts of records name it: "uint8", "float64"
  std::int64_t rows = 0;      // the first dimension
  Shape row_shape;            // the others
  std::size_t row_bytes = 0;  // at least 1, unless there are no rows
};

// Each reads the header from the beginning of a file and checks that the file can hold what it
// announces. Throws data_loss naming the file, what was expected and what came.

// IDX, the format of the MNIST database (element_reader.h), of unsigned bytes: others are big-endian.
ArrayHeader read_idx_header(ByteSource& source);
// Versions 1 to 3 of .npy, of little-endian numbers or bools in the order of C:
//
//   file := "\x93NUMPY" major minor size "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
//   values size := little-endian, of what follows up to the values: 2 bytes in version 1, else 4
ArrayHeader read_npy_header(ByteSource& source);

FixedRecords row_records(const ArrayHeader& header);

}  // namespace actorflow
