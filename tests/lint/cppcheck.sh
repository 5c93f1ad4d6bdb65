#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The one static analyser.
. "$(dirname "$0")/lib.bash"

# ElfW is a macro of the system's headers, which are not read here. The rows of the table are parameters of
# macros that expand to several functions, which the order-of-arguments check takes for one.
mkdir -p build/cppcheck
check "cppcheck has nothing to say" \
	"$(cppcheck --quiet -j"$(nproc)" --cppcheck-build-dir=build/cppcheck --std=c11 --language=c \
		--enable=warning,performance,portability --inline-suppr --error-exitcode=0 \
		--suppress=funcArgOrderDifferent:api/cuda_api.def \
		-D__x86_64__ '-DElfW(type)=Elf64_##type' -DSY_VERSION='"lint"' -I. -I"$BUILD/include" -Isim/include \
		trace analysis interposer sim api 2>&1)"
finish
