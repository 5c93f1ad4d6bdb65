#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh - brings what the build and the tests need, and only what is missing
#
#   scripts/deps.sh core     Debian packages, CUDA headers, a small Python with pytest
#   scripts/deps.sh torch    the above, and build/venv with a slim PyTorch (no nvidia wheels)
#   scripts/deps.sh all      the above, and what only tests use: build/venv-cu12 with a slim PyTorch for CUDA 12,
#                            build/venv-clients with numba-cuda and cuda-bindings, build/venv-engines with polars
#                            and chdb; chromium
#
# Safe to call at any time and from several makes at once: a lock serialises
# the calls, stamps under build/deps make the second call quick. A stamp holds
# the checksum of the function that made a thing and of its arguments, so that
# a change of either, and of nothing else, has it made again.
# Reaches for nothing but the system's package manager and the Python package index.

set -euo pipefail
cd "$(dirname "$0")/.."

readonly DEPS=build/deps
readonly TOOLS=build/tools

# The oldest Python we know to work.
readonly CORE_PYTHON_MIN=9

# Header packages. The CUDA 12 runtime package lacks crt/, which is the same for our purposes.
# CUPTI brings lists of all functions, which a test compares with our tables.
readonly CUDA13_WHEELS="nvidia-cuda-runtime==13.0.96 nvidia-cuda-profiler-api==13.0.85 nvidia-cuda-crt==13.0.88
nvidia-cuda-cupti==13.0.85"
readonly CUDA12_WHEELS="nvidia-cuda-runtime-cu12==12.8.90 nvidia-cuda-profiler-api-cu12==12.8.90 nvidia-cuda-crt==13.0.88"

# NVTX: the header that a test program is compiled with, and the Python package of that name.
readonly NVTX="nvidia-nvtx==13.0.85" NVTX_PYTHON="nvtx==0.2.17"

# PyTorch itself is installed without its dependencies: its CUDA libraries come from the simulated device.
# The Pythons are those for which there are wheels.
readonly TORCH="torch==2.13.0" TORCH_PYTHONS="10 14"
readonly TORCH_CUDA12="torch==2.6.0" TORCH_CUDA12_PYTHONS="10 13"
readonly TORCH_NEEDS="numpy typing_extensions sympy networkx jinja2 fsspec filelock setuptools pytest"

# Of the CUDA packages that numba-cuda asks for it uses just the compilers and the linker, which need no GPU.
readonly CLIENTS="numba-cuda==0.30.4 cuda-core==1.2.2 nvidia-nvvm==13.0.88 nvidia-nvjitlink==13.0.88
nvidia-cuda-nvrtc==13.0.88"
readonly CLIENTS_NEED="numba==0.68.1 cuda-bindings==13.4.4 packaging" CLIENTS_PYTHONS="10 14"

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
libyaml-dev      header   yaml.h
libsqlite3-dev   header   sqlite3.h
libavro-dev      header   avro.h
libarchive-dev   header   archive.h
libjs-chart.js   file     /usr/share/javascript/chart.js/chart.min.js
sqlite3          command  sqlite3
libcmocka-dev    header   cmocka.h
python3          python   sys
python3-venv     python   ensurepip
"

# Two engines that read the exported files: polars, and ClickHouse inside a Python module.
readonly ENGINES="polars==2.1.0 polars-runtime-32==2.1.0 chdb==4.4.0 chdb-core==26.9.0" ENGINES_PYTHONS="11 14"

# For tests that look at the HTML report in a browser.
readonly TEST_PACKAGES="
chromium         command  chromium
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
	python) [ -x "$TOOLS/bin/pytest" ] || python_in "$CORE_PYTHON_MIN" 99 >/dev/null ;;
	esac
}

missing_packages() { # LIST
	local package kind what
	while read -r package kind what; do
		[ -z "$package" ] || is_there "$kind" "$what" || printf '%s ' "$package"
	done <<<"$1"
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

system_packages() { # LIST
	local missing
	missing=$(missing_packages "$1")
	[ -z "$missing" ] || install_packages "$missing"
	missing=$(missing_packages "$1")
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

nvtx_headers() { # WHEEL
	rm -rf build/nvtx
	pip_in "$TOOLS" install --no-deps --target build/nvtx "$1"
}

# Does CUDA_HOME hold the headers of this major version? The Makefile asks the same.
cuda_home_has() {
	[ -n "${CUDA_HOME:-}" ] && grep -qs "define CUDA_VERSION $1" "$CUDA_HOME/include/cuda.h"
}

# venv_of DIR MIN MAX NEEDS ALONE: a virtual environment with the packages NEEDS and, without their dependencies, ALONE.
venv_of() {
	local python
	python_in "$2" "$3" >/dev/null || install_packages "python3 python3-venv"
	python=$(python_in "$2" "$3") || die "$1 needs a Python from 3.$2 to 3.$3 with venv: set PYTHON to one"
	make_venv "$1" "$python"
	# shellcheck disable=SC2086 # lists of names
	{
		pip_in "$1" install $4
		[ -z "$5" ] || pip_in "$1" install --no-deps $5
	}
}

# ---- what is made ----------------------------------------------------------

# once NAME FILE WHAT FUNCTION ARGUMENT...: calls the function, unless this very call has made the file before.
once() {
	local stamp=$DEPS/$1.stamp file=$2 what=$3 sum
	shift 3
	sum=$({ declare -f "$1"; printf '%s\n' "$@"; } | sha256sum)
	[ ! -e "$file" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$sum" ] || return 0
	rm -f "$stamp"
	say "$what"
	"$@"
	printf '%s\n' "$sum" >"$stamp"
}

core() {
	once tools "$TOOLS/bin/pytest" "installing pytest" venv_of "$TOOLS" "$CORE_PYTHON_MIN" 99 "pytest $NVTX_PYTHON" ""
	once nvtx build/nvtx/nvidia/cu13/include/nvtx3/nvToolsExt.h "unpacking the headers of NVTX" nvtx_headers "$NVTX"
	# shellcheck disable=SC2086 # lists of names
	{
		cuda_home_has 13 ||
			once cuda13 build/cuda13/include/cuda.h "unpacking the headers of CUDA 13" headers_from build/cuda13 $CUDA13_WHEELS
		once cuda12 build/cuda12/include/cuda.h "unpacking the headers of CUDA 12" headers_from build/cuda12 $CUDA12_WHEELS
	}
	touch "$DEPS/core.stamp"
}

torch() { # NAME WHEEL SIZE MIN MAX
	once "$1" "build/$1/bin/pytest" "installing $2 without its CUDA packages, a download of $3 MB" \
		venv_of "build/$1" "$4" "$5" "$TORCH_NEEDS" "$2"
}

clients() {
	local range
	read -ra range <<<"$CLIENTS_PYTHONS"
	once venv-clients build/venv-clients/bin/numba "installing numba-cuda and cuda-bindings, a download of 290 MB" \
		venv_of build/venv-clients "${range[@]}" "$CLIENTS_NEED" "$CLIENTS"
}

# Likewise: run-tests.sh reads the note.
engines() {
	local range note=$DEPS/venv-engines.skipped
	read -ra range <<<"$ENGINES_PYTHONS"
	rm -f "$note"
	if [ -x build/venv-engines/bin/python ] || python_in "${range[@]}" >/dev/null; then
		once venv-engines build/venv-engines/bin/pytest "installing polars and chdb, a download of 240 MB" \
			venv_of build/venv-engines "${range[@]}" pytest "$ENGINES"
	else
		echo "no Python from 3.${range[0]} to 3.${range[1]} for polars and chdb" >"$note"
		say "no tests of exported files in other engines: $(cat "$note")"
	fi
}

# A Python too new for the last PyTorch of CUDA 12 is no reason to do without all the rest: run-tests.sh reads the note.
torch_cuda12() {
	local range note=$DEPS/venv-cu12.skipped
	read -ra range <<<"$TORCH_CUDA12_PYTHONS"
	rm -f "$note"
	if [ -x build/venv-cu12/bin/python ] || python_in "${range[@]}" >/dev/null; then
		torch venv-cu12 "$TORCH_CUDA12" 770 "${range[@]}"
	else
		echo "no Python from 3.${range[0]} to 3.${range[1]} for $TORCH_CUDA12" >"$note"
		say "no tests with CUDA 12: $(cat "$note")"
	fi
}

main() {
	mkdir -p "$DEPS"
	exec 9>"$DEPS/lock"
	flock 9
	system_packages "$PACKAGES"
	core
	[ "$1" != core ] || return 0
	# shellcheck disable=SC2086 # two numbers
	torch venv "$TORCH" 530 $TORCH_PYTHONS
	[ "$1" != torch ] || return 0
	system_packages "$TEST_PACKAGES"
	torch_cuda12
	clients
	engines
}

case ${1:-} in
core | torch | all) main "$1" ;;
*) die "usage: scripts/deps.sh core|torch|all" ;;
esac
