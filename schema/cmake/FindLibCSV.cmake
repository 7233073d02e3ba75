# Finds libcsv, for which Debian packages no CMake configuration.
# Defines LibCSV::csv, or fails with a message that names what to install.
find_path(LIBCSV_INCLUDE_DIR csv.h)
find_library(LIBCSV_LIBRARY csv)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibCSV
  REQUIRED_VARS LIBCSV_LIBRARY LIBCSV_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libcsv-dev")
if(LibCSV_FOUND AND NOT TARGET LibCSV::csv)
  add_library(LibCSV::csv UNKNOWN IMPORTED)
  set_target_properties(LibCSV::csv PROPERTIES
    IMPORTED_LOCATION ${LIBCSV_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${LIBCSV_INCLUDE_DIR})
endif()
mark_as_advanced(LIBCSV_INCLUDE_DIR LIBCSV_LIBRARY)
