# Finds LZ4, for which Debian packages no CMake configuration.
# Defines LZ4::lz4, or fails with a message that names what to install.
find_path(LZ4_INCLUDE_DIR lz4frame.h)
find_library(LZ4_LIBRARY lz4)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LZ4
  REQUIRED_VARS LZ4_LIBRARY LZ4_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install liblz4-dev")
if(LZ4_FOUND AND NOT TARGET LZ4::lz4)
  add_library(LZ4::lz4 UNKNOWN IMPORTED)
  set_target_properties(LZ4::lz4 PROPERTIES
    IMPORTED_LOCATION ${LZ4_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${LZ4_INCLUDE_DIR})
endif()
mark_as_advanced(LZ4_INCLUDE_DIR LZ4_LIBRARY)
