// Readers of data files: each gives the elements of one file, one after the other, as tuples of tensors.
//
// They read in pieces, so a file may be larger than memory, and allocate nothing for a size that a file
// only announces. A truncated or damaged file is data_loss, a wrong one invalid_argument; errors name
// file, place, expected and actual.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/graph/tensor_types.h"
#include "schema/formats/byte_source.h"

namespace actorflow {

// Not thread-safe.
class ElementReader {
 public:
  virtual ~ElementReader() = default;
  // Reads the next element; false at the end.
  virtual bool next(Tuple& element) = 0;
  // Skips up to `count` elements; returns the number of skipped ones, fewer only at the end. Does not
  // read their bytes if their size is known.
  virtual std::int64_t skip(std::int64_t count);
};

// IDX files, the format of the MNIST database: a tensor of uint8 for each entry of the first dimension.
//
//   file := 0x00 0x00 type rank dim{rank} value{*}
//   type := 0x08                   unsigned bytes, the only one read here
//   rank := one byte
//   dim  := big-endian uint32
std::unique_ptr<ElementReader> read_idx(SourceRef source);

// The binary version of CIFAR-10: records of a label and three planes of 32 x 32 bytes (red, green,
// blue). Elements: uint8[3,32,32], uint8[] (0 to 9).
std::unique_ptr<ElementReader> read_cifar10(SourceRef source);

// TFRecord files (schema/tfrecord.h): a string scalar for each record.
std::unique_ptr<ElementReader> read_tfrecords(SourceRef source);

// A string scalar for each line, without its end ("\n" or "\r\n").
std::unique_ptr<ElementReader> read_lines(SourceRef source);

// Neighbouring columns that become one tensor: a vector of `count` elements, or a scalar.
struct CsvComponent {
  static constexpr int scalar = 0;
  DType dtype = DType::float32;
  int first_column = 0;  // counted from 0
  int count = scalar;
  std::string column{};  // in place of first_column: the heading of the first column
  // The text that counts where a field is empty, such as "0", "nan" or "unknown". None: an empty field
  // is an error, but in a column of strings, where it is the empty string.
  std::optional<std::string> default_value{};
};

struct CsvOptions {
  std::vector<CsvComponent> components;
  bool header = true;  // the first record has the headings, and is not an element
  char delimiter = ',';
  std::vector<std::string> na_values{};  // texts that count as empty fields, such as "NA" or "?"
};

// Comma-separated values with quoting (RFC 4180). Every record must have as many fields as the first
// element. Columns that are named by their headings may stand anywhere, in each file of several
// elsewhere. Errors name file, line and field, this by its number, counted from 0, and its heading.
std::unique_ptr<ElementReader> read_csv(SourceRef source, CsvOptions options);

}  // namespace actorflow
