#include "schema/parquet/arrow/guarded.h"

namespace actorflow {

Error damaged(const std::string& file, const std::string& what) {
  return Error(Code::data_loss,
               "'" + file + "' is damaged, or no Parquet file: " + what + "; replace the file");
}

Error too_large(const std::string& file, const std::string& what) {
  return Error(
      Code::invalid_argument,
      "'" + file + "': " + what +
          "; write it with smaller pages, give a job more --memory, or replace it if it is damaged");
}

Error out_of_memory(const std::string& file, const std::string& what) {
  return Error(Code::resource_exhausted, "'" + file + "' cannot be read: " + what);
}

Error encrypted(const std::string& file) {
  return Error(Code::unimplemented,
               "'" + file + "' is encrypted, and only Parquet files that are not are read: decrypt it");
}

}  // namespace actorflow
