#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every verb has a page that agrees with the program, and a test.

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	ROOT=$BATS_TEST_DIRNAME/../..
	verbs=$("$SYNCTALLY" --help | sed -n 's/^  synctally \([a-z-]*\) .*/\1/p')
	[ "$(wc -w <<<"$verbs")" -ge 6 ]
}

# section PAGE NAME: what stands under a heading
section() {
	awk -v name="## $2" '/^## / { inside = $0 == name; next } inside' "$1"
}

# The long options of a verb, as its table of options has them.
options_of() {
	sed -n '/static const struct option known\[\]/,/};/s/.*{ "\([a-z-]*\)", .*/--\1/p' "$ROOT/analysis/cmd_${1//-/_}.c" | sort
}

@test "every verb has a page, with the sections of a man page in their order" {
	for verb in $verbs; do
		page=$ROOT/docs/synctally-$verb.1.md
		echo "$page"
		[ "$(head -1 "$page")" = "# synctally-$verb(1)" ]
		[ "$(grep '^## ' "$page" | grep -xE '## (NAME|SYNOPSIS|DESCRIPTION|OPTIONS|EXIT STATUS|SEE ALSO)' | paste -sd,)" = \
			"## NAME,## SYNOPSIS,## DESCRIPTION,## OPTIONS,## EXIT STATUS,## SEE ALSO" ]
	done
}

@test "no page is about a verb that is not there" {
	for page in "$ROOT"/docs/synctally-*.1.md; do
		verb=$(basename "$page" .1.md)
		echo "$page"
		grep -qx "${verb#synctally-}" <<<"$verbs"
	done
}

@test "name and synopsis are what --help says" {
	for verb in $verbs; do
		page=$ROOT/docs/synctally-$verb.1.md
		"$SYNCTALLY" "$verb" --help >"$BATS_TEST_TMPDIR/help"
		diff <(section "$page" SYNOPSIS | grep .) <(sed -n 's/^usage: /    /p' "$BATS_TEST_TMPDIR/help")
		diff <(section "$page" NAME | grep .) <(sed -n "2s/^/synctally $verb - /p" "$BATS_TEST_TMPDIR/help")
	done
}

@test "the options of a page are those of the program, and the synopsis has them all" {
	for verb in $verbs; do
		page=$ROOT/docs/synctally-$verb.1.md
		echo "$verb"
		diff <(options_of "$verb") <(section "$page" OPTIONS | sed -n '/^\*\*-/s/.*\*\*\(--[a-z-]*\)\*\*.*/\1/p' | sort)
		for option in $(options_of "$verb"); do
			[ "$option" != --output ] || option=-[oO]
			section "$page" SYNOPSIS | grep -qe "\[*$option[] =[]"
		done
	done
}

@test "links between pages lead somewhere" {
	for page in "$ROOT"/docs/synctally-*.1.md; do
		for link in $(grep -oE '\]\([^)]*\)' "$page" | sed 's/^](\(.*\))$/\1/'); do
			echo "$page: $link"
			[ -e "$ROOT/docs/$link" ]
		done
	done
}

@test "every verb is tested here" {
	for verb in $verbs; do
		echo "$verb"
		grep -qE "SYNCTALLY\" $verb( |\$)" "$BATS_TEST_DIRNAME"/*.bats
	done
}
