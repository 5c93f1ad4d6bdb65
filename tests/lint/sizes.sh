#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files stay below 500 lines and functions below 50, so that a reader can hold them in the head.
. "$(dirname "$0")/lib.bash"

sources() {
	find api trace interposer sim analysis tests examples scripts -type f \
		\( -name '*.[chS]' -o -name '*.cpp' -o -name '*.py' -o -name '*.sh' \)
}

# Functions as the style has them: a line "{" alone opens one, a line "}" alone ends it.
long_functions() {
	awk 'FNR == 1 { begin = 0 }
		/^{$/ { begin = FNR }
		/^}$/ && begin { if (FNR - begin - 1 > 50) print FILENAME ":" begin ": " FNR - begin - 1 " lines"; begin = 0 }' "$@"
}

mapfile -t files < <(sources)
mapfile -t c_files < <(printf '%s\n' "${files[@]}" | grep '\.c$')
check "no file is longer than 500 lines" "$(wc -l "${files[@]}" | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }')"
check "no function is longer than 50 lines" "$(long_functions "${c_files[@]}")"
check "every file names its licence" "$(for file in "${files[@]}"; do
	head -3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
done)"
check "no open ends" "$(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' "${files[@]}" | grep -v '^tests/lint/')"
finish
