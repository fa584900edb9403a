# Toolchain file: 64-bit Arm, by Debian's cross compiler and libraries of the foreign architecture arm64 (test/aarch64.sh
# names the packages). Tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# 64 GiB of addresses: qemu 7 keeps a table of all pages that a program reserves, and the runtime reserves much of what there is.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -R 0x1000000000)
