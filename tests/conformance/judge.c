/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - what was seen against what was expected, and both in words */
#include "tests/conformance/conformance.h"

#include <stdio.h>

/* What this device has to answer; MAY if nobody says. */
static enum conf_answer due(const struct conf *c, const struct conf_rule *rule)
{
	return rule->documented == CONF_MAY && c->is_simulated ? rule->simulated : rule->documented;
}

enum conf_verdict conf_judge(const struct conf *c, const struct conf_rule *rule, const struct conf_seen *seen)
{
	enum conf_answer expected = due(c, rule);

	if (seen->is_unsupported)
		return CONF_SKIPPED;
	if (seen->has_failed)
		return CONF_DIFFERS;
	if (expected == CONF_MAY)
		return CONF_OK;
	if (seen->is_broken)
		return CONF_DIFFERS;
	if (seen->answer == CONF_UNCLEAR)
		return CONF_IS_UNCLEAR;
	return seen->answer == expected ? CONF_OK : CONF_DIFFERS;
}

const char *conf_answer_word(enum conf_question question, enum conf_answer answer)
{
	static const char *const words[][4] = {
		[CONF_WAIT] = { "goes on", "waits", "may wait", "unclear" },
		[CONF_ORDER] = { "side by side", "in order", "either", "unclear" },
		[CONF_FACT] = { "no", "yes", "may be", "unclear" },
	};

	return words[question][answer];
}

const char *conf_verdict_word(enum conf_verdict verdict)
{
	static const char *const words[] = { "ok", "differs", "unclear", "skipped" };

	return words[verdict];
}

void conf_expected_text(const struct conf *c, const struct conf_rule *rule, char *text, size_t bytes)
{
	const char *word = conf_answer_word(rule->question, rule->documented);

	if (due(c, rule) == rule->documented)
		snprintf(text, bytes, "%s", word);
	else
		snprintf(text, bytes, "%s: %s", word, conf_answer_word(rule->question, rule->simulated));
}

void conf_seen_text(const struct conf *c, const struct conf_rule *rule, const struct conf_seen *seen, char *text,
                    size_t bytes)
{
	const char *word = conf_answer_word(rule->question, seen->answer);
	const char *between = seen->text[0] ? ", " : "";

	if (seen->is_unsupported)
		snprintf(text, bytes, "not supported");
	else if (seen->has_failed)
		snprintf(text, bytes, "%s", seen->text);
	else if (seen->has_ns)
		snprintf(text, bytes, "%s (%.3f of %.3f ms)%s%s", word, (double)seen->ns / 1e6,
		         (double)c->busy_ns / 1e6, between, seen->text);
	else
		snprintf(text, bytes, "%s%s%s", word, between, seen->text);
}
