#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally doctor: files, directories, wheels, processes, commands, and what is none of these.

setup() {
	cd "$BATS_TEST_TMPDIR"
	SYNCTALLY=$BUILD/bin/synctally
	E2E=$BUILD/tests/e2e
	! nm -D "$BUILD/lib/libsynctally.so" | grep -q __tsan_init || skip "not under ThreadSanitizer"
}

# seen OBJECT...: "reaches: seen" of each object, sorted by path
seen() {
	"$SYNCTALLY" doctor --format json "$@" | "$PYTHON" -c '
import json, sys
for found in sorted(json.load(sys.stdin)["objects"], key=lambda found: found["path"]):
    print("; ".join(found["reaches"]) + ": " + found.get("seen", "-"))'
}

compile() { # NAME FLAGS... <SOURCE
	gcc -x c - -o "$1" "${@:2}"
}

@test "linked, by name, a runtime inside" {
	[ "$(seen "$E2E/static/shared")" = "runtime, linked: yes" ]
	[ "$(seen "$E2E/plugins/by_name.so")" = "driver, by name: yes" ]
	[ "$(seen "$E2E/plugins/calls.so")" = "runtime, linked; driver, linked: yes" ]
	[ "$(seen "$E2E/static/static")" = "driver, by name; runtime, linked in: partly" ]
	[ "$(seen "$E2E/static/stripped")" = "driver, by name: yes" ]
	[ "$(seen /bin/true)" = ": -" ]
}

@test "a runtime inside is found by its texts where there are no symbols" {
	compile stripped.so -shared -fPIC -s <<-'C'
		#include <dlfcn.h>
		const char *const errors[] = { "cudaErrorMissingConfiguration", "cuGetProcAddress_v2" };
		void *find(void) { return dlsym(dlopen("libcuda.so.1", RTLD_LAZY), errors[1]); }
	C
	[ "$(seen stripped.so)" = "driver, by name; runtime, linked in: partly" ]
	compile tables.so -shared -fPIC -s <<-'C'
		#include <dlfcn.h>
		void *find(void) { return dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuGetExportTable"); }
	C
	[ "$(seen tables.so)" = "driver, by name; driver, private tables: partly" ]
}

@test "into a static program nothing can be preloaded: blind, and --strict says so" {
	for how in -static -static-pie; do
		compile program $how <<-'C'
			#include <stdio.h>
			int main(void) { return puts("libcuda.so.1") < 0; }
		C
		[ "$(seen program)" = "statically linked: no" ]
		run "$SYNCTALLY" doctor --strict program
		[ "$status" = 1 ]
		[[ $output == *"nothing can be preloaded"* ]]
		run "$SYNCTALLY" doctor program
		[ "$status" = 0 ]
	done
	run "$SYNCTALLY" doctor --strict "$E2E/static/static"
	[ "$status" = 0 ]
}

@test "a program with another user's rights, and one of another libc" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cp "$E2E/static/shared" privileged
	chown 1:1 privileged
	chmod u+s privileged
	[ "$(seen privileged)" = "runtime, linked; privileged: no" ]
	compile other -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 <<-'C'
		#include <dlfcn.h>
		int main(void) { return !dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuInit"); }
	C
	[ "$(seen other)" = "driver, by name; another libc: no" ]
}

@test "a directory with all below it, each file once; a wheel and a directory of wheels" {
	mkdir -p tree/deep wheels
	cp "$E2E/plugins/calls.so" tree/deep/libcalls.so.1
	ln -s libcalls.so.1 tree/deep/libcalls.so
	ln tree/deep/libcalls.so.1 tree/again.so
	cp "$E2E/plugins/by_name.so" "$E2E/plugins/nothing.so" tree/
	echo text >tree/README.md
	[ "$(seen tree)" = "runtime, linked; driver, linked: yes
driver, by name: yes" ]
	"$PYTHON" -c 'import shutil; shutil.make_archive("wheels/thing-1.0-py3-none-any", "zip", "tree")'
	mv wheels/thing-1.0-py3-none-any.zip wheels/thing-1.0-py3-none-any.whl
	[ "$(seen wheels/thing-1.0-py3-none-any.whl | sort -u)" = "$(seen tree | sort -u)" ]
	[ "$(seen wheels | sort -u)" = "$(seen tree | sort -u)" ]
	"$SYNCTALLY" doctor --all wheels | grep -q 'whl!deep/libcalls.so.1'
}

@test "a process: what it has loaded, and what is bound past us" {
	export SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD
	mkfifo go
	for list in "" "$BUILD/lib/libsynctally.so"; do
		LD_PRELOAD=$list "$E2E/blind" 1 "read go" deepbind "$E2E/plugins/calls.so" plugin_calls &
		pid=$!
		for _ in $(seq 100); do grep -q calls.so /proc/$pid/maps 2>/dev/null && break; sleep 0.05; done
		sleep 0.2
		run "$SYNCTALLY" doctor --strict $pid
		echo >go
		wait $pid
		if [ -n "$list" ]; then
			[ "$status" = 1 ]
			[[ $output == *"bound past"*calls.so* ]]
		else
			[ "$status" = 0 ]
			[[ $output == *"was started without the preload library"* ]]
		fi
	done
}

@test "a command: its program, the libraries of that, and the packages of its Python" {
	run "$SYNCTALLY" doctor --all -- "$E2E/static/shared" argument
	[ "$status" = 0 ]
	[[ $output == *static/shared* ]]
	run "$SYNCTALLY" doctor -- "$PYTHON" train.py
	[ "$status" = 0 ]
	[[ $output == *"objects come to CUDA"* ]]
}

@test "what cannot be examined is said, with status 2" {
	echo text >text
	: >empty
	head -c 3000 "$E2E/static/shared" >cut
	printf 'PK\3\4rubbish' >bad.whl
	for what in text empty bad.whl /nonexistent 4194303 0 "-- no-such-program" "" "--format xml $PWD" "--nonsense x" "text -- true" "--"; do
		run --separate-stderr "$SYNCTALLY" doctor $what
		[ "$status" = 2 ]
		[ -z "$output" ]
		[ "$(grep -c . <<<"$stderr")" -le 2 ]
	done
	run "$SYNCTALLY" doctor cut
	[ "$status" -le 2 ]
}

@test "damaged objects do no harm" {
	"$PYTHON" - "$E2E/static/static" <<-'PY'
		import os, random, sys
		data = open(sys.argv[1], "rb").read()
		os.mkdir("damaged")
		random.seed(7)
		for i in range(150):
		    bad = bytearray(data)
		    for _ in range(random.choice((1, 8, 200))):
		        bad[random.randrange(random.choice((64, 1000, len(bad))))] = random.randrange(256)
		    open(f"damaged/{i}.so", "wb").write(bad[: random.choice((len(bad), random.randrange(len(bad))))])
	PY
	run "$SYNCTALLY" doctor damaged
	[ "$status" = 0 ]
}
