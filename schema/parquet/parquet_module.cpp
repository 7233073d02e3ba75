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

// The file's name differs from version to version; the name of its function, wherever the types that
// both sides share differ.
constexpr const char* module_name = ACTORFLOW_PARQUET_MODULE;
#define ACTORFLOW_TEXT_OF(name) #name
#define ACTORFLOW_TEXT(name) ACTORFLOW_TEXT_OF(name)
constexpr const char* function_name = ACTORFLOW_TEXT(ACTORFLOW_OPEN_PARQUET);

// The module sees its own symbols first: Arrow may bring an OpenSSL or Protocol Buffers of another
// version, and would otherwise call ours. Sanitizers, whose functions must be called instead, refuse
// such a module.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ACTORFLOW_IS_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(ACTORFLOW_IS_SANITIZED)
constexpr int load_flags = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int load_flags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

std::string why_not() {
  const char* const text = dlerror();
  return text ? text : "no reason is known";
}

ParquetModule functions_of(void* module, const std::string& path) {
  void* const function = dlsym(module, function_name);
  if (!function)
    throw Error(Code::failed_precondition,
                "the reader of Parquet files, '" + path +
                    "', was built of other sources than this program; build the target "
                    "actorflow_parquet, and install it with the program");
  return reinterpret_cast<GetParquetModule>(function)();
}

// Beside this library if it is a shared one, or in the folder of libraries beside the program's. For a
// static program the library's name is what the program was called by.
std::optional<std::string> module_path() {
  std::error_code error;
  Dl_info library{};
  std::vector<fs::path> folders;
  if (dladdr(&module_name, &library) != 0 && library.dli_fname && library.dli_fname[0] == '/')
    folders.push_back(fs::path(library.dli_fname).parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() /
                    ACTORFLOW_LIBRARY_FOLDER);
  for (const auto& folder : folders)
    if (fs::exists(folder / module_name, error)) return (folder / module_name).string();
  return std::nullopt;
}

ParquetModule load() {
  const auto path = module_path();
  void* const module = dlopen(path ? path->c_str() : module_name, load_flags);
  if (!module && path)
    throw Error(Code::failed_precondition, "cannot load the reader of Parquet files: " + why_not() +
                                               "; install the Arrow that it was built with");
  if (module) return functions_of(module, path ? *path : module_name);
  throw Error(
      Code::unimplemented,
      "this installation knows no Parquet files: it was built without Apache Arrow (there is no " +
          std::string(module_name) +
          "). Install Apache's package libparquet-dev, or pyarrow from PyPI, and build again, "
          "with cmake -DACTORFLOW_PYARROW=FOLDER for a Python environment that has pyarrow");
}

const ParquetModule& parquet_module() {
  static const ParquetModule module = load();
  return module;
}

}  // namespace

bool reads_parquet() {
  try {
    return parquet_module().open != nullptr;
  } catch (const Error& error) {
    if (error.code() == Code::unimplemented) return false;
    throw;
  }
}

void expect_parquet() { parquet_module(); }

std::unique_ptr<ParquetFile> open_parquet(ParquetBytes bytes) {
  return std::unique_ptr<ParquetFile>(parquet_module().open(bytes));
}

std::unique_ptr<ParquetWriter> create_parquet(const NewParquet& output) {
  return std::unique_ptr<ParquetWriter>(parquet_module().create(output));
}

}  // namespace actorflow
