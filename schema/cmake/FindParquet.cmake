# Finds Apache Arrow's library for Parquet: a CMake package, as Apache's libparquet-dev has one, else the headers and
# libraries in pyarrow of a Python environment, ACTORFLOW_PYARROW. Defines Parquet::parquet, and PARQUET_RPATH, the
# folder in which a program finds its libraries, unless the system knows it.
set(ACTORFLOW_PYARROW ${CMAKE_SOURCE_DIR}/build/python CACHE PATH
  "Python environment with pyarrow, for reading Parquet files; used where there is no CMake package of Parquet")

find_package(Parquet CONFIG QUIET)
if(TARGET Parquet::parquet_shared)
  set(PARQUET_LIBRARIES Parquet::parquet_shared)
else()
  file(GLOB pyarrow LIST_DIRECTORIES true ${ACTORFLOW_PYARROW}/lib/python3*/site-packages/pyarrow)
  file(GLOB libraries ${pyarrow}/libparquet.so.* ${pyarrow}/libarrow.so.*)
  if(libraries AND EXISTS ${pyarrow}/include/parquet/file_reader.h)
    # Links only where Arrow was compiled with the same std::string as this compiler has.
    try_compile(PARQUET_IS_USABLE
      SOURCE_FROM_CONTENT parquet_abi.cpp
        "#include <parquet/types.h>
         int main() { return parquet::TypeToString(parquet::Type::INT32).empty() ? 1 : 0; }"
      CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${pyarrow}/include
      LINK_LIBRARIES ${libraries} CXX_STANDARD 20 OUTPUT_VARIABLE why_not)
    if(PARQUET_IS_USABLE)
      set(PARQUET_LIBRARIES ${libraries})
      set(PARQUET_INCLUDE_DIR ${pyarrow}/include)
      set(PARQUET_RPATH ${pyarrow})
    else()
      message(STATUS "This compiler cannot use ${libraries}: ${why_not}")
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Parquet REQUIRED_VARS PARQUET_LIBRARIES
  REASON_FAILURE_MESSAGE "Parquet files are not read. To read them install Apache's libparquet-dev, or pyarrow into the Python environment ACTORFLOW_PYARROW (${ACTORFLOW_PYARROW})")
if(Parquet_FOUND AND NOT TARGET Parquet::parquet)
  add_library(Parquet::parquet INTERFACE IMPORTED)
  target_link_libraries(Parquet::parquet INTERFACE ${PARQUET_LIBRARIES})
  target_include_directories(Parquet::parquet SYSTEM INTERFACE ${PARQUET_INCLUDE_DIR})
endif()
