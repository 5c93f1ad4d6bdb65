#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Libraries that come and go, other tools in the same process, and what a look-up by name finds.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual
	PRELOAD=$BUILD/lib/libsynctally.so
	PLUGINS=$BUILD/tests/e2e/plugins
	export SYNCTALLY_OUT=$PWD/run.trace
}

# ThreadSanitizer changes what some tests are about.
not_under_tsan() { ! nm -D "$BUILD/lib/libsynctally.so" | grep -q __tsan_init || skip "not under ThreadSanitizer: $1"; }

# same ARGUMENT...: bare and recorded, with the same output; leaves the number of recorded calls in `calls`
same() {
	"$BUILD/tests/e2e/loads" "$@" >bare.out 2>&1
	LD_PRELOAD=$PRELOAD "$BUILD/tests/e2e/loads" "$@" >recorded.out 2>&1
	cmp bare.out recorded.out
	calls=0
	[ ! -e run.trace ] || calls=$("$BUILD/bin/synctally" dump run.trace | grep -c "	call	")
}

@test "a library loaded with RTLD_GLOBAL and with RTLD_LOCAL is seen" {
	same plain "$PLUGINS/calls.so"
	[ "$calls" = 9 ]
	rm run.trace
	same local "$PLUGINS/calls.so"
	[ "$calls" = 9 ]
}

@test "one loaded with RTLD_DEEPBIND, or into another namespace, goes past us and works" {
	not_under_tsan "it refuses RTLD_DEEPBIND"
	same deepbind "$PLUGINS/calls.so"
	[ "$calls" = 0 ]
	same newspace "$PLUGINS/calls.so"
	[ "$(tail -1 recorded.out)" = "newspace: 0" ]
	[ "$calls" = 0 ]
}

@test "loaded and unloaded twenty times" {
	same again "$PLUGINS/calls.so"
	[ "$calls" = 180 ]
}

# Python, which links no CUDA, so that unloading the library could unload CUDA's with it.
@test "CUDA's own libraries unloaded and loaded again" {
	not_under_tsan "Python is not built with it"
	cat >again.py <<-'PY'
		import _ctypes, ctypes, sys

		libc = ctypes.CDLL(None)
		libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
		for _ in range(3):
		    library = ctypes.CDLL(sys.argv[1])
		    print(library.plugin_calls(3))
		    maps = [line.split("-", 1) for line in open("/proc/self/maps") if "libcudart" in line]
		    _ctypes.dlclose(library._handle)
		    for start, rest in maps:  # so that nothing is loaded where it was: PROT_NONE, MAP_FIXED_NOREPLACE
		        at = int(start, 16)
		        libc.mmap(at, int(rest.split()[0], 16) - at, 0, 0x100022, -1, 0)
	PY
	"$PYTHON" again.py "$PLUGINS/calls.so" >bare.out
	LD_PRELOAD=$PRELOAD "$PYTHON" again.py "$PLUGINS/calls.so" >recorded.out
	cmp bare.out recorded.out
	[ "$(sort -u recorded.out)" = 0 ]
	[ "$("$BUILD/bin/synctally" dump run.trace | grep -c "	call	")" = 27 ]
}

@test "every other name is found where it was: five ways, thousands of names, and what dlerror says" {
	libc=$(ldd "$BUILD/tests/e2e/loads" | awk '$1 == "libc.so.6" { print $3 }')
	nm -D --defined-only "$libc" "$BUILD/lib/sim/libcudart.so.13" |
		awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >names
	echo no_such_name >>names
	[ "$(wc -l <names)" -gt 2000 ]
	"$BUILD/tests/e2e/loads" lookups <names >bare.out
	LD_PRELOAD=$PRELOAD "$BUILD/tests/e2e/loads" lookups <names >recorded.out
	[ "$(wc -l <recorded.out)" -gt 10000 ]
	diff bare.out recorded.out | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u >differ
	# Ours by intent, and nothing else: CUDA's, and the two that look up.
	grep -vxE '(__)?cu[A-Za-z0-9_]*|dlsym|dlvsym' differ >others || true
	cat others
	[ ! -s others ]
	grep -qx cudaMemcpy differ
}

@test "a second tool that stands in for dlsym, before us and behind us" {
	not_under_tsan "it asks for its functions before they can answer"
	for order in "$PRELOAD $PLUGINS/second_dlsym.so" "$PLUGINS/second_dlsym.so $PRELOAD"; do
		rm -f run.trace
		TELL_DLSYM=1 LD_PRELOAD=$order "$BUILD/tests/e2e/loads" local "$PLUGINS/calls.so" >out 2>err
		cat out err
		[ "$(cat out)" = "local: 0" ]
		[ "$(cat err)" = "dlsym was asked: yes" ]
		[ "$("$BUILD/bin/synctally" dump run.trace | grep -c "	call	")" = 9 ]
	done
}

@test "another preload's RTLD_NEXT is libc's, before us and behind us" {
	not_under_tsan "malloc is its own"
	for order in "$PRELOAD $PLUGINS/next_malloc.so" "$PLUGINS/next_malloc.so $PRELOAD"; do
		LD_PRELOAD=$order "$BUILD/tests/e2e/loads" local "$PLUGINS/calls.so" >out 2>err
		cat out err
		[ "$(cat err)" = "malloc comes from libc.so.6" ]
	done
}

@test "jemalloc and tcmalloc, before us and behind us" {
	not_under_tsan "malloc is its own"
	n=0
	for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4 libtcmalloc.so.4; do
		path=$(ldconfig -p | awk -v name=$allocator '$1 == name { print $NF; exit }')
		[ -n "$path" ] || continue
		for order in "$PRELOAD $path" "$path $PRELOAD"; do
			rm -f run.trace
			LD_PRELOAD=$order "$BUILD/tests/e2e/loads" again "$PLUGINS/calls.so" >out
			[ "$("$BUILD/bin/synctally" dump run.trace | grep -c "	call	")" = 180 ]
			n=$((n + 1))
		done
	done
	[ "$n" -gt 0 ] || skip "neither is installed"
}
