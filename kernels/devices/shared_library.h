// A shared library that is loaded when it is first needed, so that programs start on machines without
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace actorflow {

// Stays loaded as long as the process lives. Thread-safe.
class SharedLibrary {
 public:
  // Loads `file`, a soname such as "libcublas.so.13", from where the system's loader looks
  // (LD_LIBRARY_PATH, the folders of ldconfig), else from the first of `folders` that has it. Throws
  // failed_precondition with the loader's reasons and `advice`: what to install.
  SharedLibrary(std::string file, std::span<const std::string> folders, std::string_view advice);

  // Points `function` at the library's function of that name. The caller answers for the type. Throws
  // unimplemented, naming library and function, if there is none.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  std::string file_;
  void* handle_ = nullptr;
};

// A library of CUDA's, or cuDNN: also from the folders where this build found the toolkit and cuDNN, and
// from where the toolkit is usually installed. Throws as SharedLibrary does.
SharedLibrary cuda_library(std::string file, std::string_view advice);

}  // namespace actorflow
