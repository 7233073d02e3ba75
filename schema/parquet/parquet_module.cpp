#include "schema/parquet/parquet_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

// Which differs from version to version, as do the types that it shares with this library.
constexpr const char* module_name = ACTORFLOW_PARQUET_MODULE;

std::string why_not() {
  const char* const text = dlerror();
  return text ? text : "no reason is known";
}

// Beside this library if it is a shared one, or in the folder of libraries beside the program's.
std::optional<std::string> module_path() {
  std::error_code error;
  Dl_info library{};
  std::vector<fs::path> folders;
  if (dladdr(&module_name, &library) != 0 && library.dli_fname)
    folders.push_back(fs::path(library.dli_fname).parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() /
                    ACTORFLOW_LIBRARY_FOLDER);
  for (const auto& folder : folders)
    if (fs::exists(folder / module_name, error)) return (folder / module_name).string();
  return std::nullopt;
}

// Its names stay its own: Arrow may come with an OpenSSL or a Protocol Buffers of another version.
OpenParquet load() {
  const auto path = module_path();
  void* const module = dlopen(path ? path->c_str() : module_name, RTLD_NOW | RTLD_LOCAL);
  if (!module && path)
    throw Error(Code::failed_precondition, "cannot load the reader of Parquet files: " + why_not() +
                                               "; install the Arrow that it was built with");
  void* const function = module ? dlsym(module, open_parquet_name) : nullptr;
  if (function) return reinterpret_cast<OpenParquet>(function);
  throw Error(
      Code::unimplemented,
      "this installation reads no Parquet files: it was built without Apache Arrow (there is no " +
          std::string(module_name) +
          "). Install Apache's package libparquet-dev, or pyarrow from PyPI, and build again, "
          "with cmake -DACTORFLOW_PYARROW=FOLDER for a Python environment that has pyarrow");
}

OpenParquet open_function() {
  static const OpenParquet function = load();
  return function;
}

}  // namespace

bool reads_parquet() {
  try {
    return open_function() != nullptr;
  } catch (const Error& error) {
    if (error.code() == Code::unimplemented) return false;
    throw;
  }
}

std::unique_ptr<ParquetFile> open_parquet(ParquetBytes bytes) {
  return std::unique_ptr<ParquetFile>(open_function()(bytes));
}

}  // namespace actorflow
