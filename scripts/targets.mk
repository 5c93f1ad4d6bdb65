# SPDX-License-Identifier: Apache-2.0
# deps, test, lint, bench, install, help and the like. Included by the Makefile.
