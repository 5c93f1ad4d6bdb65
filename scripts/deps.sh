#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh - brings what the build and the tests need, and only what is missing
#
#   scripts/deps.sh core     Debian packages, CUDA headers, a small Python with pytest
#   scripts/deps.sh torch    the above, and build/venv with a slim PyTorch (no nvidia wheels)
#
# Safe to call at any time and from several makes at once: a lock serialises
# the calls, stamps under build/deps make the second call quick. A stamp holds
# the checksum of this file, so a change here takes effect on the next call.
# Reaches for nothing but the system's package manager and the Python package index.

set -euo pipefail
cd "$(dirname "$0")/.."

readonly DEPS=build/deps
readonly TOOLS=build/tools
readonly VENV=build/venv

# The oldest Python we know to work, and the range for which PyTorch offers wheels.
readonly CORE_PYTHON_MIN=9 TORCH_PYTHON_MIN=10 TORCH_PYTHON_MAX=14

# Header packages. The CUDA 12 runtime package lacks crt/, which is the same for our purposes.
# CUPTI brings lists of all functions, which a test compares with our tables.
readonly CUDA13_WHEELS="nvidia-cuda-runtime==13.0.96 nvidia-cuda-profiler-api==13.0.85 nvidia-cuda-crt==13.0.88
nvidia-cuda-cupti==13.0.85"
readonly CUDA12_WHEELS="nvidia-cuda-runtime-cu12==12.8.90 nvidia-cuda-profiler-api-cu12==12.8.90 nvidia-cuda-crt==13.0.88"

# PyTorch itself is installed without its dependencies: its CUDA libraries come from the simulated device.
readonly TORCH="torch==2.13.0"
readonly TORCH_NEEDS="numpy typing_extensions sympy networkx jinja2 fsspec filelock setuptools pytest"

# package  how to see that what it brings is there: a command, a header, a file or a Python module
readonly PACKAGES="
gcc              command  gcc
binutils         command  nm
make             command  make
clang            command  clang
clang-format     command  clang-format
cppcheck         command  cppcheck
bats             command  bats
pkg-config       command  pkg-config
ca-certificates  file     /etc/ssl/certs/ca-certificates.crt
libc6-dev        header   stdio.h
libelf-dev       header   libelf.h
libdw-dev        header   elfutils/libdw.h
libsmartcols-dev header   libsmartcols/libsmartcols.h
libjansson-dev   header   jansson.h
libcmocka-dev    header   cmocka.h
python3          python   sys
python3-venv     python   ensurepip
"

say() { printf 'deps: %s\n' "$*"; }
die() { printf 'deps: %s\n' "$*" >&2; exit 2; }

# ---- system packages -------------------------------------------------------

# python_in MIN MAX: prints the first Python 3 of that range that can make a virtual environment.
python_in() {
	local candidate
	for candidate in ${PYTHON:-} python3 /usr/bin/python3 python3.{14,13,12,11,10}; do
		if "$candidate" -c "import sys, venv, ensurepip; sys.exit(not ($1 <= sys.version_info[1] <= $2))" 2>/dev/null; then
			"$candidate" -c 'import sys; print(sys.executable)'
			return
		fi
	done
	return 1
}

is_there() { # KIND WHAT
	case $1 in
	command) command -v "$2" >/dev/null ;;
	file) [ -e "$2" ] ;;
	header) compgen -G "/usr/include/$2" >/dev/null || compgen -G "/usr/include/*/$2" >/dev/null ;;
	python) is_done tools "$TOOLS/bin/pytest" || python_in "$CORE_PYTHON_MIN" 99 >/dev/null ;;
	esac
}

missing_packages() {
	local package kind what
	while read -r package kind what; do
		[ -z "$package" ] || is_there "$kind" "$what" || printf '%s ' "$package"
	done <<<"$PACKAGES"
}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_install() {
	command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

install_packages() {
	local missing=$1
	can_install || die "please install these packages (names of Debian), then run this again: $missing"
	say "installing $missing"
	export DEBIAN_FRONTEND=noninteractive
	as_root apt-get update -qq >"$DEPS/apt.log" 2>&1 || true
	# shellcheck disable=SC2086 # a list of names
	as_root apt-get install -y --no-install-recommends $missing >>"$DEPS/apt.log" 2>&1 ||
		die "apt-get failed, see $DEPS/apt.log: packages=$missing"
}

system_packages() {
	local missing
	missing=$(missing_packages)
	[ -z "$missing" ] || install_packages "$missing"
	missing=$(missing_packages)
	[ -z "$missing" ] || die "installed, but still not usable: $missing"
}

# ---- Python and CUDA headers -----------------------------------------------

# make_venv DIR PYTHON: a virtual environment, made anew when the old one does not run.
make_venv() {
	"$1/bin/python" -m pip --version >/dev/null 2>&1 && return
	rm -rf "$1"
	"$2" -m venv "$1"
}

pip_in() { # VENV ARGUMENTS...
	local venv=$1
	shift
	"$venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"
}

# headers_from DIR WHEEL...: unpacks the include folders of the wheels to DIR/include, all or nothing.
headers_from() {
	local dir=$1 work=$DEPS/unpack header
	shift
	rm -rf "$work"
	mkdir -p "$work/include"
	pip_in "$TOOLS" download --no-deps --only-binary=:all: --dest "$work" "$@"
	"$TOOLS/bin/python" - "$work" <<'PY'
import glob, os, sys, zipfile

work = sys.argv[1]
for wheel in glob.glob(os.path.join(work, "*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            head, found, tail = name.partition("/include/")
            if not found or not tail or name.endswith("/"):
                continue
            if "cuda_cupti" in wheel and tail not in ("cupti_driver_cbid.h", "cupti_runtime_cbid.h"):
                continue
            target = os.path.join(work, "include", tail)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                out.write(archive.read(name))
PY
	for header in cuda.h cuda_runtime_api.h cudaProfiler.h crt/host_defines.h; do
		[ -e "$work/include/$header" ] || die "the header packages have another layout: missing=$header packages=$*"
	done
	rm -rf "$dir"
	mkdir -p "$dir"
	mv "$work/include" "$dir/include"
	rm -rf "$work"
}

# Does CUDA_HOME hold the headers of this major version? The Makefile asks the same.
cuda_home_has() {
	[ -n "${CUDA_HOME:-}" ] && grep -qs "define CUDA_VERSION $1" "$CUDA_HOME/include/cuda.h"
}

cuda_headers() {
	local version=$1
	shift
	! is_done "cuda$version" "build/cuda$version/include/cuda.h" || return 0
	say "unpacking the headers of CUDA $version"
	headers_from "build/cuda$version" "$@"
	finish "cuda$version"
}

core_python() {
	! is_done tools "$TOOLS/bin/pytest" || return 0
	make_venv "$TOOLS" "$(python_in "$CORE_PYTHON_MIN" 99)"
	pip_in "$TOOLS" install pytest
	finish tools
}

torch_python() {
	local python
	! is_done torch "$VENV/bin/pytest" || return 0
	python_in "$TORCH_PYTHON_MIN" "$TORCH_PYTHON_MAX" >/dev/null || install_packages "python3 python3-venv"
	python=$(python_in "$TORCH_PYTHON_MIN" "$TORCH_PYTHON_MAX") ||
		die "PyTorch needs a Python from 3.$TORCH_PYTHON_MIN to 3.$TORCH_PYTHON_MAX with venv: set PYTHON to one"
	make_venv "$VENV" "$python"
	say "installing $TORCH without its CUDA packages (a download of about 530 MB)"
	# shellcheck disable=SC2086 # a list of names
	pip_in "$VENV" install $TORCH_NEEDS
	pip_in "$VENV" install --no-deps "$TORCH"
	finish torch
}

# ---- stamps ----------------------------------------------------------------

is_done() { # NAME FILE: was it made by this very script, and is it still there?
	[ -e "$2" ] && [ "$(cat "$DEPS/$1.stamp" 2>/dev/null)" = "$SELF" ]
}

finish() { printf '%s\n' "$SELF" >"$DEPS/$1.stamp"; }

main() {
	mkdir -p "$DEPS"
	exec 9>"$DEPS/lock"
	flock 9
	SELF=$(sha256sum <scripts/deps.sh)
	system_packages
	core_python
	# shellcheck disable=SC2086 # lists of names
	{
		cuda_home_has 13 || cuda_headers 13 $CUDA13_WHEELS
		cuda_headers 12 $CUDA12_WHEELS
	}
	finish core
	[ "$1" = core ] || torch_python
}

case ${1:-} in
core | torch) main "$1" ;;
*) die "usage: scripts/deps.sh core|torch" ;;
esac
