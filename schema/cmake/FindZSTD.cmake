# Finds Zstandard.
# Defines ZSTD::zstd, or fails with a message that names what to install.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZSTD
  REQUIRED_VARS ZSTD_LIBRARY ZSTD_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libzstd-dev")
if(ZSTD_FOUND AND NOT TARGET ZSTD::zstd)
  add_library(ZSTD::zstd UNKNOWN IMPORTED)
  set_target_properties(ZSTD::zstd PROPERTIES
    IMPORTED_LOCATION ${ZSTD_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${ZSTD_INCLUDE_DIR})
endif()
mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
