// What does not compile; each test of CMakeLists.txt chooses one.
#include <map>

#include "dataflow/values/tensor.h"
#include "schema/records/csv_record.h"
#include "schema/records/key.h"
#include "schema/records/stored_record.h"

using namespace actorflow;

struct Pointer {
  int size;
  const char* name;
};
struct Array {
  char name[16];
};
struct View {
  std::string_view name;
};

#if defined POINTER
static_assert(require_record<Pointer>());
#elif defined C_ARRAY
static_assert(require_record<std::vector<Array> >());
#elif defined MAP
static_assert(require_record<std::map<int, int> >());
#elif defined STORED_VIEW
using Stored = StoredRecord<View>;
#elif defined TENSOR_KEY
const auto bytes_of = [](const std::pair<int, Tensor>& key, std::vector<std::byte>& scratch) {
  return key_bytes(key, scratch);
};
#elif defined SORTED_TENSORS
const auto prefix = order_prefix(std::vector<Tensor>());
#elif defined TENSOR_ROW
const auto append = [](const std::pair<int, Tensor>& row, std::string& line) { append_csv(row, line); };
#endif
