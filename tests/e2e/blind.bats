#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The report names the libraries whose CUDA calls go past us.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD/run.trace
	PRELOAD=$BUILD/lib/libsynctally.so
	PLUGINS=$BUILD/tests/e2e/plugins
	! nm -D "$PRELOAD" | grep -q __tsan_init || skip "not under ThreadSanitizer: it refuses RTLD_DEEPBIND"
}

# blind ARGUMENT...: the report's coverage.blind of a run of tests/e2e/blind.c, file names on one line
blind() {
	rm -f run.trace
	LD_PRELOAD=${LIST:-$PRELOAD} "$BUILD/tests/e2e/blind" "$@"
	"$BUILD/bin/synctally" report run.trace --format json >report.json
	"$PYTHON" -c 'import json, os; print(*sorted(map(os.path.basename, json.load(open("report.json"))["coverage"]["blind"])))'
}

@test "nothing is blind where every call is seen" {
	[ "$(blind 3 exit)" = "" ]
	[ "$(blind 3 exit plain "$PLUGINS/calls.so" plugin_calls plain "$PLUGINS/by_name.so" plugin_by_name)" = "" ]
}

@test "a library loaded with RTLD_DEEPBIND is named, whether it links CUDA or asks for it by name" {
	[ "$(blind 3 exit deepbind "$PLUGINS/calls.so" plugin_calls)" = calls.so ]
	[ "$(blind 3 exit deepbind "$PLUGINS/by_name.so" plugin_by_name)" = by_name.so ]
	[ "$(blind 3 exit deepbind "$PLUGINS/by_name.so" plugin_by_name plain "$PLUGINS/calls.so" plugin_calls)" = by_name.so ]
	[ "$(blind 3 exit deepbind "$PLUGINS/by_name.so" plugin_by_name deepbind "$PLUGINS/calls.so" plugin_calls)" = "by_name.so calls.so" ]
	"$BUILD/bin/synctally" report run.trace | grep -q "Not seen: CUDA calls made by .*calls.so"
}

@test "one in another namespace is named" {
	[ "$(blind 1 exit newspace "$PLUGINS/calls.so" plugin_driver_calls)" = calls.so ]
}

@test "a program that ends by _exit has looked at its steps 1, 2, 4; one without steps looks when it ends" {
	[ "$(blind 1 _exit deepbind "$PLUGINS/calls.so" plugin_calls)" = calls.so ]
	[ "$(SYNCTALLY_STEP=off blind 3 exit deepbind "$PLUGINS/calls.so" plugin_calls)" = calls.so ]
	[ "$(SYNCTALLY_STEP=off blind 3 _exit deepbind "$PLUGINS/calls.so" plugin_calls)" = "" ]
}

@test "another tool's dlsym before us hands on, and makes nobody blind" {
	[ "$(LIST="$PLUGINS/second_dlsym.so $PRELOAD" blind 2 exit plain "$PLUGINS/by_name.so" plugin_by_name)" = "" ]
}

@test "a library that binds its calls as it makes them is named once it has made one" {
	[ "$(blind 4 exit deepbind "$PLUGINS/calls.so" plugin_driver_calls)" = calls.so ]
}
