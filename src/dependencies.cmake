# Finds what Weft stands on, all from the distribution; used by the build and by whoever links the installed libraries.
# Afterwards WEFT_STANDS_ON names the libraries and versions that were found, but for those that tell it themselves when
# they run (MPI, PETSc, HDF5).
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI 3.1 REQUIRED COMPONENTS C CXX)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PETSC REQUIRED IMPORTED_TARGET PETSc>=3.18)
# The flags that Debian built it with are not ours; files with other macros could not share precompiled headers.
set_target_properties(PkgConfig::PETSC PROPERTIES INTERFACE_COMPILE_OPTIONS "")
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
# Files are written through HDF5's MPI-IO driver, too, and PETSc stands on the same library.
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "This HDF5 was built without MPI. Install the parallel one (Debian: libhdf5-openmpi-dev).")
endif()
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# OpenVDB's own find module asks for more of Boost than the library uses, so it is named by hand.
find_package(TBB REQUIRED)
find_package(Imath REQUIRED)
find_path(OPENVDB_INCLUDE_DIR openvdb/openvdb.h REQUIRED)
find_library(OPENVDB_LIBRARY openvdb REQUIRED)
add_library(OpenVDB::openvdb SHARED IMPORTED)
set_target_properties(OpenVDB::openvdb PROPERTIES IMPORTED_LOCATION "${OPENVDB_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${OPENVDB_INCLUDE_DIR}")
target_link_libraries(OpenVDB::openvdb INTERFACE TBB::tbb Imath::Imath)
# Debian's package file of OpenSubdiv names libraries that are not shipped.
find_path(OPENSUBDIV_INCLUDE_DIR opensubdiv/version.h REQUIRED)
find_library(OPENSUBDIV_LIBRARY osdCPU REQUIRED)
add_library(OpenSubdiv::osdCPU SHARED IMPORTED)
set_target_properties(OpenSubdiv::osdCPU PROPERTIES IMPORTED_LOCATION "${OPENSUBDIV_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${OPENSUBDIV_INCLUDE_DIR}")

# version_of(out header macros...): the numbers that a header defines, with points between.
function(version_of out header)
  set(version "")
  foreach(macro ${ARGN})
    file(STRINGS ${header} line REGEX "define ${macro} ")
    string(REGEX REPLACE ".*${macro} +([0-9]+).*" "\\1" number "${line}")
    list(APPEND version ${number})
  endforeach()
  list(JOIN version . version)
  set(${out} ${version} PARENT_SCOPE)
endfunction()
version_of(openvdb_version ${OPENVDB_INCLUDE_DIR}/openvdb/version.h OPENVDB_LIBRARY_MAJOR_VERSION_NUMBER
           OPENVDB_LIBRARY_MINOR_VERSION_NUMBER OPENVDB_LIBRARY_PATCH_VERSION_NUMBER)
version_of(opensubdiv_version ${OPENSUBDIV_INCLUDE_DIR}/opensubdiv/version.h OPENSUBDIV_VERSION_MAJOR
           OPENSUBDIV_VERSION_MINOR OPENSUBDIV_VERSION_PATCH)
string(CONCAT WEFT_STANDS_ON "Eigen ${Eigen3_VERSION}, OpenVDB ${openvdb_version}, OpenSubdiv ${opensubdiv_version}, "
              "TBB ${TBB_VERSION}, Imath ${Imath_VERSION}, yaml-cpp ${yaml-cpp_VERSION}, fmt ${fmt_VERSION}, "
              "nlohmann/json ${nlohmann_json_VERSION}, CLI11 ${CLI11_VERSION}, xxHash ${XXHASH_VERSION}, "
              "OpenMP ${OpenMP_CXX_VERSION}")
