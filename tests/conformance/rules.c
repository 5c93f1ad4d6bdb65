/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - the table of rules.def, as data */
#include "tests/conformance/conformance.h"

const struct conf_rule conf_rules[] = {
#define WAIT(rule, what, documented, simulated, busy, name, arg)                                                       \
	{ rule, what, CONF_WAIT, CONF_##documented, CONF_##simulated, CONF_##busy, &conf_##name, NULL, arg },
#define TEST(rule, what, question, documented, simulated, name, arg)                                                   \
	{ rule, what, CONF_##question, CONF_##documented, CONF_##simulated, CONF_LEGACY, NULL, conf_##name, arg },
#include "tests/conformance/rules.def"
#undef WAIT
#undef TEST
};

const size_t conf_n_rules = sizeof conf_rules / sizeof conf_rules[0];
