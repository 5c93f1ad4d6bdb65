#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The preload library exports exactly the functions of the table, and needs nothing but libc.
. "$(dirname "$0")/lib.bash"

LIBRARY=$BUILD/lib/libsynctally.so
# Not rows of the table: how programs look functions up, and what a program may call.
OTHERS='dlsym dlvsym cuGetProcAddress cuGetProcAddress_v2 cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion
cudaGetDriverEntryPoint_ptsz cudaGetDriverEntryPointByVersion_ptsz cuGetProcAddress_v2_ptsz synctally_step synctally_python_frame InitializeInjectionNvtx2 __cudaRegisterFatBinary'

table() {
	gcc -E -P -isystem "$(cuda_include)" -I. -x c - <<'C' | grep -oE 'EXPORTS:[A-Za-z0-9_]+' | sed 's/EXPORTS://'
#include <cuda.h>
#include <cuda_runtime_api.h>
#define SPELL_NONE(name) EXPORTS:name
#define SPELL_PTSZ(name) EXPORTS:name EXPORTS:name##_ptsz
#define SPELL_PTDS(name) EXPORTS:name EXPORTS:name##_ptds
#define API(lib, name, spelling, class, params, args, facts) SPELL_##spelling(name)
#include "api/cuda_api.def"
C
}

exported=$(nm -D --defined-only "$LIBRARY" 2>&1 | awk '{ print $NF }' | sort -u)
wanted=$(table | sort -u)
others=$(tr ' ' '\n' <<<"$OTHERS" | grep . | sort -u)

check "the table names functions" "$([ "$(wc -l <<<"$wanted")" -gt 100 ] || echo "only: $wanted")"
check "every row is exported" "$(comm -23 <(echo "$wanted") <(echo "$exported"))"
check "nothing else is exported" "$(comm -13 <(sort -u <(echo "$wanted") <(echo "$others")) <(echo "$exported"))"
check "no symbol has a version of ours" "$(nm -D --defined-only --with-symbol-versions "$LIBRARY" | grep '@')"
check "the library needs nothing but libc" \
	"$(readelf -d "$LIBRARY" 2>&1 | grep -E 'NEEDED|Error' | grep -vE '\[(libc\.so\.6|ld-linux-[a-z0-9-]+\.so\.[12])\]')"
finish
