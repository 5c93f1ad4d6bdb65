#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes point one way: interposer, sim and analysis know nothing of each other, trace/ of nobody,
# and the analyzer reads names of functions from the trace, never from api/.
. "$(dirname "$0")/lib.bash"

# includes_of DIR PATTERN: the includes in DIR whose path begins with one of the pattern's folders
includes_of() {
	grep -rnE --include='*.[chS]' --include='*.def' --include='*.cpp' \
		"^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<](\.\./)*($2)/" "$1"
}

check "trace/ includes nothing of ours but trace/" "$(includes_of trace 'api|interposer|sim|analysis|tests')"
check "api/ includes nothing of ours but api/" "$(includes_of api 'trace|interposer|sim|analysis|tests')"
check "interposer/ includes neither sim/ nor analysis/" "$(includes_of interposer 'sim|analysis|tests')"
check "sim/ includes neither interposer/, trace/ nor analysis/" "$(includes_of sim 'interposer|trace|analysis|tests')"
check "analysis/ includes neither api/, interposer/ nor sim/" "$(includes_of analysis 'api|interposer|sim|tests')"
check "the analyzer does not include the headers of CUDA" \
	"$(grep -rnE '#[[:space:]]*include[[:space:]]*[<"]cuda' analysis trace)"
finish
