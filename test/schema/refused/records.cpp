// What does not compile; each test of CMakeLists.txt chooses one.
#include <map>

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
#endif
