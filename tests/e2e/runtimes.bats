#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Two CUDA runtimes in one process: each library's calls go to the runtime that it was linked to.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual
	PRELOAD=$BUILD/lib/libsynctally.so
	RUNTIMES=$BUILD/tests/e2e/runtimes
}

@test "the results are those without us, in either order, and every call is recorded" {
	for order in "13 12" "12 13" "13" "12"; do
		libraries=()
		for version in $order; do libraries+=("$RUNTIMES/kernels$version.so"); done
		"$RUNTIMES/main" 2 "${libraries[@]}" >bare.out
		rm -f run.trace run.ledger
		LD_PRELOAD=$PRELOAD SYNCTALLY_OUT=$PWD/run.trace SYNCTALLY_SIM_LEDGER=$PWD/run.ledger "$RUNTIMES/main" 2 "${libraries[@]}" >recorded.out
		cmp bare.out recorded.out
		# kernels were launched in both: three launches and three copies that wait, and the failed free, twice
		[ "$("$BUILD/bin/synctally" dump run.trace | grep -c "	cudaMemcpy	")" = $((6 * ${#libraries[@]})) ]
		"$BUILD/bin/synctally" sim-diff run.ledger run.trace
	done
}

@test "both runtimes there from the start" {
	for list in "13 12" "12 13"; do
		set -- $list
		both="$BUILD/lib/sim/libcudart.so.$1 $BUILD/lib/sim/libcudart.so.$2"
		LD_PRELOAD=$both "$RUNTIMES/main" 2 "$RUNTIMES/kernels12.so" "$RUNTIMES/kernels13.so" >bare.out
		LD_PRELOAD="$PRELOAD $both" SYNCTALLY_OUT=$PWD "$RUNTIMES/main" 2 "$RUNTIMES/kernels12.so" "$RUNTIMES/kernels13.so" >recorded.out
		cmp bare.out recorded.out
	done
}

@test "the first runtime looked up by name, the second linked to" {
	cat >by_name.py <<-'PY'
		import ctypes, sys

		first = ctypes.CDLL(sys.argv[1])  # by name: no library is linked to it
		device = ctypes.c_void_p()
		print(first.cudaMalloc(ctypes.byref(device), 64), first.cudaDeviceSynchronize())
		second = ctypes.CDLL(sys.argv[2])
		print(second.kernels_run(3))
		version = ctypes.c_int()
		print(first.cudaMemset(device, 0, 64), first.cudaDeviceSynchronize(), first.cudaRuntimeGetVersion(ctypes.byref(version)), version.value)
	PY
	! nm -D "$PRELOAD" | grep -q __tsan_init || skip "Python is not built with ThreadSanitizer"
	for list in "13 12" "12 13"; do
		set -- $list
		"$PYTHON" by_name.py "$BUILD/lib/sim/libcudart.so.$1" "$RUNTIMES/kernels$2.so" >bare.out
		LD_PRELOAD=$PRELOAD SYNCTALLY_OUT=$PWD "$PYTHON" by_name.py "$BUILD/lib/sim/libcudart.so.$1" "$RUNTIMES/kernels$2.so" >recorded.out
		cmp bare.out recorded.out
	done
}
