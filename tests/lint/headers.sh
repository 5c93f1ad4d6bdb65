#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone.
. "$(dirname "$0")/lib.bash"

cuda=$(cuda_include)
while read -r header; do
	check "$header compiles alone" \
		"$(printf '#include "%s"\n' "$header" |
			gcc -std=c11 -D_GNU_SOURCE -DSY_VERSION='"lint"' -I. -I"$BUILD/include" -Isim/include -isystem "$cuda" \
				-Wall -Wextra -fsyntax-only -x c - 2>&1)"
done < <(git ls-files -- '*.h' 2>/dev/null || find api trace interposer sim analysis tests -name '*.h')
finish
