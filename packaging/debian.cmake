# Debian packages, by CPack: the command; the plugin for each release of LLVM; runtime and allocator; the metadata library; the
# development files. packaging/debs.sh makes them of all build trees.
if(DEFINED ENV{DEBEMAIL}) # as dch takes them
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(maintainer "Local build of Hearth <local-build@example.org>")
endif()
set(HEARTH_MAINTAINER "${maintainer}" CACHE STRING "Maintainer in packages: NAME <ADDRESS>; default: of DEBFULLNAME, DEBEMAIL")
set(documents ${CMAKE_INSTALL_DATADIR}/doc)

install(FILES README.md CHANGELOG.md DESTINATION ${documents}/hearth COMPONENT tools)
install(FILES LICENSE DESTINATION ${documents}/hearth COMPONENT licence) # packages have the file "copyright"
install(DIRECTORY docs DESTINATION ${documents}/hearth COMPONENT tools PATTERN "*.sh" EXCLUDE)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or of SOURCE_DATE_EPOCH
configure_file(packaging/changelog.in changelog @ONLY)
execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/changelog COMMAND_ERROR_IS_FATAL ANY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hearth)
set(CPACK_PACKAGE_CONTACT "${HEARTH_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/strip.cmake)
set(CPACK_COMPONENTS_ALL tools runtime md dev llvm${HEARTH_LLVM})

# hearth_package(COMPONENT PACKAGE SECTION SUMMARY TEXT DEPENDS RECOMMENDS)
function(hearth_package component package section summary text depends recommends)
  set(copy ${documents}/${package})
  install(FILES packaging/copyright DESTINATION ${copy} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${copy} COMPONENT ${component} EXCLUDE_FROM_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()

# The system's C library: what CPack would find out by dpkg-shlibdeps. Where it does, it has scripts call ldconfig for private
# libraries, too.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc ERROR_QUIET) # where it is glibc
string(REGEX REPLACE "[^0-9.]" "" libc "${libc}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_MD_PACKAGE_SHLIBDEPS OFF)
file(WRITE ${PROJECT_BINARY_DIR}/shlibs "libhearth_md 0 libhearth-md0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_MD_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/triggers ${PROJECT_BINARY_DIR}/shlibs)

set(same "(= ${PROJECT_VERSION})")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
set(about "Hearth measures which heap blocks of a C or C++ program are used and which
only lie around, for each calling context, and has clang and an
allocator keep the two apart.
.
")
hearth_package(tools hearth devel "heap profile-guided optimisation for C and C++"
  "${about}This package has the command. It records programs, shows and compares
profiles, and compiles with them (hearth-cc)."
  "hearth-runtime ${same}" "hearth-llvm22 | hearth-llvm19 | hearth-llvm16 | hearth-llvm15 | hearth-llvm14")
hearth_package(runtime hearth-runtime libs "heap profiling runtime and allocator of Hearth"
  "${about}This package has what programs that were built with Hearth are linked with."
  "libc6 (>= ${libc})" "")
hearth_package(md libhearth-md0 libs "heap-profile metadata in LLVM IR"
  "${about}This package has the library that builds and reads the metadata."
  "libc6 (>= ${libc}), libgcc-s1, libllvm${HEARTH_LLVM}, libstdc++6" "")
hearth_package(dev hearth-dev libdevel "development files of Hearth"
  "${about}This package has headers, static libraries, and files for CMake and
pkg-config."
  "hearth-runtime ${same}, libhearth-md0 ${same}, libelf-dev, libiberty-dev, libzstd-dev, zlib1g-dev" "hearth")
foreach(release 14 15 16 19 22)
  hearth_package(llvm${release} hearth-llvm${release} devel "plugin of Hearth for clang ${release}"
    "${about}This package has the plugin for clang and opt of LLVM ${release}."
    "hearth-runtime ${same}, clang-${release}" "hearth")
endforeach()
include(CPack)
