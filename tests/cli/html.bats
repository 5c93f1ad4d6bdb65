#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The HTML report: one file without references, and what a browser makes of it.

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	"$BUILD/bin/synctally" run -o run --sim=clock=virtual --skip 2 -- "$BUILD/examples/trainer" 40 >/dev/null 2>&1
	"$BUILD/bin/synctally" report run --format html -O report.html
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	REPORT=$PWD/report.html
}

# browser HASH: the page as it is after its scripts ran
browser() {
	command -v chromium >/dev/null || skip "no chromium: make deps installs it"
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" \
		--virtual-time-budget=5000 --dump-dom "file://$REPORT$1" 2>"$BATS_TEST_TMPDIR/chromium.log"
}

@test "nothing is fetched, and the data is JSON" {
	"$PYTHON" - "$REPORT" <<'PY'
import html.parser, json, sys

class Page(html.parser.HTMLParser):
    data, inside = "", False
    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert tag not in ("link", "img", "iframe", "base"), tag
        assert "src" not in attributes and "href" not in attributes, (tag, attributes)
        self.inside = attributes.get("id") == "data"
    def handle_data(self, text):
        if self.inside:
            self.data += text
    def handle_endtag(self, tag):
        self.inside = False

page = Page()
page.feed(open(sys.argv[1]).read())
data = json.loads(page.data)
assert data["has_steps"] and data["lines"] and data["order"]["syncs"]
assert len(data["series"]["lines"][0]["values"]) == 38 and data["series"]["first"] == 2
PY
}

@test "the charts add up to the report" {
	"$BUILD/bin/synctally" report run --format json >report.json
	"$PYTHON" - "$REPORT" <<'PY'
import json, re, sys
data = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[1]).read(), re.S)[1])
total = json.load(open("report.json"))["totals"]
assert sum(sum(line["values"]) for line in data["series"]["lines"]) == total["waited_ns"] > 0
assert sum(sum(values) for values in data["histogram"].values()) == total["syncs"] > 0
assert round(38 * sum(line["waited"] for line in data["lines"])) == total["waited_ns"]
PY
}

@test "in a browser: charts are drawn, the step is drawn, no script fails" {
	browser "" >page
	grep -q '<body data-charts="3">' page
	[ "$(grep -c '<canvas' page)" -ge 1 ]
	grep -q '<rect' page
	if grep -q 'data-errors' page; then false; fi
	if grep -iE 'console.*error|Uncaught|Refused' "$BATS_TEST_TMPDIR/chromium.log"; then false; fi
}

@test "in a browser: a table is sorted by its numbers" {
	browser "#sort=0,1" >page
	"$PYTHON" - page <<'PY'
import re, sys
page = open(sys.argv[1]).read()
table = re.search(r"<table>.*?</table>", page, re.S)[0]
assert 'aria-sort="descending"' in table
rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]
values = [float(re.findall(r'data-v="([^"]*)"', row)[0]) for row in rows]
assert len(values) > 5 and values == sorted(values, reverse=True) and values[0] > values[-1], values
PY
}

@test "names cannot become markup or script" {
	SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD/evil.trace LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/random_calls" 3 300 1 >/dev/null
	"$PYTHON" - evil.trace <<'PY'
import sys
data = open(sys.argv[1], "rb").read()
assert b"random_calls" in data
open(sys.argv[1], "wb").write(data.replace(b"random_calls", b"</script><b>"))
PY
	"$BUILD/bin/synctally" report evil.trace --format html >evil.html || [ $? = 3 ]
	[ "$(grep -o '</script>' evil.html | wc -l)" = "$(grep -o '</script>' "$REPORT" | wc -l)" ]
	if grep -q '<b>' evil.html; then false; fi
	# What stands before the slash is the folder of the program.
	grep -q 'script&gt;&lt;b&gt;' evil.html
}
