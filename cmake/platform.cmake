# What Hearth runs on. A port is to supply runtime/memory/machine.h and runtime/os/kernel.h.
if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
  message(FATAL_ERROR "Hearth supports Linux on x86_64 and aarch64, not ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}.")
endif()

# The runtime stands in for glibc's malloc_info and __libc_start_main, and uses _dl_find_object, rseq and .preinit_array's order.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <features.h>
  #ifndef __GLIBC__
  #error
  #endif
  int main(void) { return 0; }" HEARTH_HAS_GLIBC)
if(NOT HEARTH_HAS_GLIBC)
  message(FATAL_ERROR "Hearth needs glibc, and ${CMAKE_C_COMPILER} has another C library.")
endif()
