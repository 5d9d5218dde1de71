#!/bin/sh
# Builds vitrine-machine for every Linux that a prebuilt one is kept for. Needs gcc, for arm64 gcc-aarch64-linux-gnu.
set -eu
cd "$(dirname "$0")"
out=${1:-.}
build() {
  compiler=$1
  shift
  "$compiler" -std=gnu11 -Os -Wall -Wextra -Werror -static -nostdlib -ffreestanding -fno-stack-protector \
    -fno-asynchronous-unwind-tables -fno-ident -fno-pie -no-pie -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro \
    -Wl,-z,noseparate-code -s "$@" src/*.c
}
build gcc -o "$out/vitrine-machine-linux-x64"
if command -v aarch64-linux-gnu-gcc >/dev/null; then build aarch64-linux-gnu-gcc -o "$out/vitrine-machine-linux-arm64"; fi
