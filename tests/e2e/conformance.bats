#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# That tests/conformance notices a device that breaks a rule, and one that is not there.
# What the simulated device answers is in conformance.sh.

setup() {
	cd "$BATS_TEST_TMPDIR"
	program=$BUILD/tests/conformance/conformance
	base=clock=virtual,kernel_ns=50000000
}

# ask SETTINGS [ARGUMENT...]: the simulated device, with more settings
ask() {
	SYNCTALLY_SIM=$base$1 LD_LIBRARY_PATH=$BUILD/lib/sim run "$program" "${@:2}"
	echo "$output"
}

# The rules of the rows that differ, each once and with their number: "R6a:8 R7:1"
differing() {
	awk '$NF == "differs" { n[$1]++ } END { for (rule in n) print rule ":" n[rule] }' <<<"$output" | sort -V | paste -sd' '
}

expect_differing() { # SETTINGS RULES
	ask "$1"
	[ "$status" = 1 ]
	[ "$(differing)" = "$2" ]
}

@test "each setting of the simulated device that stands for a rule is noticed, and only at its rule" {
	expect_differing ,pageable_d2h_waits=0 "R6a:8"
	expect_differing ,staged_upload=0 "R6b:5 R7:1"
	expect_differing ,staged_upload=1048576 "R6b:3 R7:1"
	expect_differing ,staged_upload=65535 "R6b:1 R7:1"
	expect_differing ,managed_copy_waits=1 "R10:3"
	expect_differing ,queue_depth=64 "R14:1"
	expect_differing ,free_waits=0 "R15:3"
	expect_differing ,free_host_waits=0 "R16:1"
	expect_differing ,unregister_waits=0 "R16:1"
}

# expect_broken RULES C...: a device with these functions in place of its own
expect_broken() {
	printf '%s\n' '#define _GNU_SOURCE' '#include <dlfcn.h>' '#include <stddef.h>' 'int cudaDeviceSynchronize(void);' \
		'typedef int (*fn)();' '#define REAL(name) ((fn)dlsym(RTLD_NEXT, #name))' "${@:2}" >broken.c
	gcc -std=gnu11 -shared -fPIC -Wl,--unresolved-symbols=ignore-all -o broken.so broken.c
	SYNCTALLY_SIM=$base LD_LIBRARY_PATH=$BUILD/lib/sim run env LD_PRELOAD=./broken.so "$program"
	echo "$output"
	[ "$status" = 1 ]
	[ "$(differing)" = "$1" ]
}

@test "a device that waits where it should go on" {
	expect_broken "R4:1" 'int cudaMemcpy(void *to, void *from, size_t n, int kind)' \
		'{ int e = REAL(cudaMemcpy)(to, from, n, kind); if (kind == 3) cudaDeviceSynchronize(); return e; }'
	expect_broken "R12:2" 'int cudaMemset(void *to, int value, size_t n)' \
		'{ int e = REAL(cudaMemset)(to, value, n); cudaDeviceSynchronize(); return e; }'
	expect_broken "R15:1" 'int cudaFreeAsync(void *p, void *stream)' \
		'{ int e = REAL(cudaFreeAsync)(p, stream); cudaDeviceSynchronize(); return e; }'
	expect_broken "R19:1" 'int cudaStreamDestroy(void *stream)' \
		'{ cudaDeviceSynchronize(); return REAL(cudaStreamDestroy)(stream); }'
}

@test "a device that goes on where it should wait" {
	expect_broken "R18:1" 'int cudaEventSynchronize(void *event) { return 0; }'
	expect_broken "R18:1" 'int cuCtxSynchronize(void) { return 0; }'
	expect_broken "R18:1" 'int cuStreamSynchronize(void *stream) { return 0; }'
	expect_broken "R18:2 R20:2 R22:3" 'int cudaStreamSynchronize(void *stream) { return 0; }'
	expect_broken "R22:2" 'int cudaStreamSynchronize_ptsz(void *stream)' \
		'{ return REAL(cudaStreamSynchronize)((void *)0x1); }'
}

@test "a device that does not order streams, or copies too late" {
	expect_broken "R18:1" 'int cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }'
	# A wait, and only then the copy: the bytes of a source that is reused are lost.
	expect_broken "R5:1" '#include <string.h>' 'int cudaMemcpy(void *to, void *from, size_t n, int kind)' \
		'{ return kind == 0 ? cudaDeviceSynchronize() : REAL(cudaMemcpy)(to, from, n, kind); }'
}

@test "a device that only pretends to capture" {
	expect_broken "R20:9 R21:2" 'int cudaStreamBeginCapture(void *stream, int mode) { return 0; }' \
		'int cudaStreamEndCapture(void *stream, void **graph) { *graph = NULL; return 0; }'
}

@test "every rule has a row, and the JSON says what the lines say" {
	ask "" --json result.json
	[ "$status" = 0 ]
	for rule in R1 R2 R3 R4 R5 R6a R6b R7 R8 R9 R1{0..9} R2{0..3}; do
		grep -q "^$rule " <<<"$output"
	done
	"$PYTHON" - "$(tail -1 <<<"$output")" <<'PY'
import json, sys
result = json.load(open("result.json"))
rows = result["rows"]
count = lambda verdict: sum(row["verdict"] == verdict for row in rows)
assert result["schema"] == "synctally-conformance/1" and result["simulated"] and result["clock"] == "virtual"
assert sys.argv[1] == "%d as expected, %d differ, %d unclear, %d skipped" % tuple(
    count(verdict) for verdict in ("ok", "differs", "unclear", "skipped")), sys.argv[1]
assert len(rows) > 100 and all(row["rule"] and row["what"] and row["expected"] and row["seen"] for row in rows)
PY
}

@test "two runs are equal" {
	ask ""
	first=$output
	ask ""
	[ "$output" = "$first" ]
}

@test "the command line" {
	ask "" R4 R9
	[ "$status" = 0 ]
	[[ "$output" == *"4 as expected, 0 differ, 0 unclear, 0 skipped" ]]
	ask "" R4 R99
	[ "$status" = 2 ]
	ask "" --busy-ms 0
	[ "$status" = 2 ]
	ask "" --json nowhere/result.json R4
	[ "$status" = 2 ]
	base=clock=virtual ask ""
	[ "$status" = 2 ]
	[[ "$output" == *"set SYNCTALLY_SIM=kernel_ns"* ]]
}

@test "the program asks for CUDA's libraries by name, and for nothing of ours" {
	needed=$(readelf -d "$program")
	[[ "$needed" == *"[libcudart.so.13]"* && "$needed" == *"[libcuda.so.1]"* ]]
	[[ "$needed" != *simcore* && "$needed" != *RPATH* && "$needed" != *RUNPATH* ]]
}

# The CUDA of a machine without a device: every function says so.
make_cuda_without_device() {
	nm -D --undefined-only "$program" | awk '{ print $NF }' | sed 's/@.*//' | grep -E '^cu(da)?[A-Z]' |
		grep -v '^cudaGetErrorName$' | sed 's/.*/int &(void) { return 100; }/' >none.c
	echo 'const char *cudaGetErrorName(int e) { (void)e; return "cudaErrorNoDevice"; }' >>none.c
	echo 'libcudart.so.13 { global: *; };' >none.map
	gcc -std=gnu11 -fno-builtin -shared -fPIC -o libcudart.so.13 none.c -Wl,-soname,libcudart.so.13,--version-script=none.map
	gcc -std=gnu11 -fno-builtin -shared -fPIC -o libcuda.so.1 none.c -Wl,-soname,libcuda.so.1
}

@test "without a device: status 77 of the program; make gpu-check says so in one line and is content" {
	make_cuda_without_device
	LD_LIBRARY_PATH=. run "$program"
	[ "$status" = 77 ]
	[ "$output" = "skipped: no CUDA device: cudaErrorNoDevice" ]
	LD_LIBRARY_PATH=$PWD run "$BATS_TEST_DIRNAME/../conformance/gpu-check.sh"
	[ "$status" = 0 ]
	[ "$output" = "skipped: no CUDA device: cudaErrorNoDevice" ]
}

@test "make gpu-check does not take the simulated device for a GPU" {
	LD_LIBRARY_PATH=$BUILD/lib/sim run "$BATS_TEST_DIRNAME/../conformance/gpu-check.sh"
	[ "$status" = 0 ]
	[ "$output" = "skipped: no GPU to ask: the loader finds the simulated device" ]
}
