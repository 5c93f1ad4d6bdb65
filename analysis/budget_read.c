/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_read.c - a budget from YAML
 *
 * libyaml parses; here every node is checked against what may stand there.
 * Nothing is skipped in silence: a key nobody knows is an error with its
 * place, since a mistyped limit would otherwise never break.
 */
#include "analysis/budget.h"
#include "analysis/mem.h"
#include "analysis/near_word.h"
#include "analysis/source_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reading {
	struct sy_budget *budget;
	yaml_document_t document;
	const char *name;
	struct sy_err *err;
	size_t n_text; /* bytes of text taken so far */
};

#define MAX_TEXT_BYTES 8192
/* Aliases let a small file mean a large one. */
#define MAX_ALL_TEXT_BYTES (8u * SY_BUDGET_MAX_BYTES)

/* ---- words ------------------------------------------------------------------------------ */

static int fail(const struct reading *reading, const yaml_node_t *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct reading *reading, const yaml_node_t *at, const char *format, ...)
{
	char text[SY_ERR_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return sy_err_set(reading->err, "%s:%zu:%zu: %s", reading->name, at->start_mark.line + 1,
	                  at->start_mark.column + 1, text);
}

static const yaml_node_t *node_of(struct reading *reading, int number)
{
	return yaml_document_get_node(&reading->document, number);
}

/* A scalar as text that is safe to show; NULL if the node is something else. */
static const char *text_of(struct reading *reading, const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || reading->n_text > MAX_ALL_TEXT_BYTES)
		return NULL;
	/* Never nothing, so that empty scalars come to an end, too. */
	reading->n_text += node->data.scalar.length + 16;
	return sy_source_clean(&reading->budget->arena, (const char *)node->data.scalar.value, node->data.scalar.length,
	                       MAX_TEXT_BYTES);
}

static int unknown_key(struct reading *reading, const yaml_node_t *key, const char *word, const char *const *known,
                       size_t n_known)
{
	const char *near = sy_near_word(word, known, n_known);
	char list[512] = "";

	if (near)
		return fail(reading, key, "unknown key: name=%.80s; did you mean %s?", word, near);
	for (size_t i = 0; i < n_known; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", known[i]);
	return fail(reading, key, "unknown key: name=%.80s known=%s", word, list);
}

/* Calls `take` for each pair of a mapping; keys are words and stand there once. */
typedef int pair_fn(struct reading *reading, const char *word, const yaml_node_t *key, const yaml_node_t *value,
                    void *context);

static int each_pair(struct reading *reading, const yaml_node_t *node, const char *what, pair_fn *take, void *context)
{
	struct sy_index seen = { .n = 0 };
	int result = 0;

	if (node->type != YAML_MAPPING_NODE)
		return fail(reading, node, "%s must be keys with values", what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = node_of(reading, pair->key), *value = node_of(reading, pair->value);
		const char *word = text_of(reading, key);
		uint32_t known = seen.n;

		if (!word)
			result = fail(reading, key, "a key must be a word");
		else if (sy_index_add(&seen, word, strlen(word)) < known)
			result = fail(reading, key, "given twice: name=%.80s", word);
		else
			result = take(reading, word, key, value, context);
		if (result != 0)
			break;
	}
	sy_index_free(&seen);
	return result;
}

static int read_text(struct reading *reading, const yaml_node_t *value, const char *what, const char **text)
{
	*text = text_of(reading, value);
	if (!*text || !**text)
		return fail(reading, value, "%s must be text", what);
	return 0;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* "4.2 ms"; the unit must be there. */
static bool parse_time(const char *text, double *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double value = strtod(text, &end);

	while (isspace((unsigned char)*end))
		end++;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		*ns = value * units[i].ns;
		return isdigit((unsigned char)*text) && isfinite(*ns);
	}
	return false;
}

static bool parse_number(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return isdigit((unsigned char)*text) && end != text && !*end && isfinite(*number);
}

static int read_limit(struct reading *reading, const yaml_node_t *value, enum sy_metric metric, struct sy_limit *limit)
{
	bool is_time = sy_metric_desc[metric].unit == SY_UNIT_NS;
	const char *text = text_of(reading, value);
	double allowed;

	if (!text || !(is_time ? parse_time(text, &allowed) : parse_number(text, &allowed)))
		return fail(reading, value, "%s: given=%.80s",
		            is_time ? "a time with its unit is wanted, as 4.2 ms" : "a number from 0 on is wanted",
		            text ? text : "(no text)");
	limit->is_set = true;
	limit->allowed = allowed;
	return 0;
}

/* ---- entries -------------------------------------------------------------------------------- */

static struct sy_budget_entry *add_entry(struct reading *reading, enum sy_scope scope, const yaml_node_t *at)
{
	struct sy_budget *budget = reading->budget;
	struct sy_budget_entry *entry;

	budget->entries = sy_mem_grow(budget->entries, &budget->capacity, budget->n, sizeof(*budget->entries));
	entry = &budget->entries[budget->n++];
	entry->scope = scope;
	entry->class = -1;
	entry->budget_line = (unsigned)at->start_mark.line + 1;
	return entry;
}

/* FILE:LINE, FILE:FUNCTION or FILE. */
static int read_at(struct reading *reading, const yaml_node_t *value, struct sy_budget_entry *entry)
{
	const char *colon;

	if (read_text(reading, value, "at", &entry->name) != 0)
		return -1;
	colon = strrchr(entry->name, ':');
	entry->file = entry->name;
	if (!colon)
		return 0;
	if (colon == entry->name || !colon[1])
		return fail(reading, value, "at must be FILE:LINE, FILE:FUNCTION or FILE: given=%.200s", entry->name);
	entry->file = sy_mem_printf(&reading->budget->arena, "%.*s", (int)(colon - entry->name), entry->name);
	if (colon[1 + strspn(colon + 1, "0123456789")]) {
		entry->pattern = colon + 1;
		return 0;
	}
	entry->line = strlen(colon + 1) <= 9 ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	return entry->line ? 0 : fail(reading, value, "not a line: given=%.80s", colon + 1);
}

static int read_class(struct reading *reading, const yaml_node_t *value, struct sy_budget_entry *entry)
{
	const char *names[SY_ACT_STAGING + 1], *text = text_of(reading, value);

	for (int class = 0; class <= SY_ACT_STAGING; class ++) {
		names[class] = sy_act_class_name((enum sy_act_class) class);
		if (text && strcmp(text, names[class]) == 0)
			entry->class = class;
	}
	if (entry->class < 0)
		return fail(reading, value, "unknown class: name=%.80s known=%s, %s, %s, %s, %s", text ? text : "",
		            names[0], names[1], names[2], names[3], names[4]);
	return 0;
}

#define N_ENTRY_KEYS 5
static const char *const entry_keys[N_ENTRY_KEYS] = { "at", "function", "class", "code", "reason" };

static int take_in_entry(struct reading *reading, const char *word, const yaml_node_t *key, const yaml_node_t *value,
                         void *context)
{
	struct sy_budget_entry *entry = context;
	bool is_of_lines = entry->scope == SY_SCOPE_LINE || entry->scope == SY_SCOPE_ACCEPT;
	const char *known[N_ENTRY_KEYS + SY_N_METRICS];
	size_t n_known = 0;

	for (; is_of_lines && n_known < N_ENTRY_KEYS; n_known++)
		known[n_known] = entry_keys[n_known];
	if (is_of_lines && strcmp(word, "at") == 0)
		return read_at(reading, value, entry);
	if (is_of_lines && strcmp(word, "function") == 0)
		return read_text(reading, value, word, &entry->function);
	if (is_of_lines && strcmp(word, "class") == 0)
		return read_class(reading, value, entry);
	if (is_of_lines && strcmp(word, "code") == 0)
		return read_text(reading, value, word, &entry->code);
	if (is_of_lines && strcmp(word, "reason") == 0)
		return read_text(reading, value, word, &entry->reason);
	for (int m = 0; m < SY_N_METRICS; m++) {
		if (!sy_budget_may_limit(entry->scope, (enum sy_metric)m))
			continue;
		known[n_known] = sy_budget_metric_key(&reading->budget->arena, (enum sy_metric)m);
		if (strcmp(word, known[n_known++]) == 0)
			return read_limit(reading, value, (enum sy_metric)m, &entry->limits[m]);
	}
	return unknown_key(reading, key, word, known, n_known);
}

static int read_entry(struct reading *reading, enum sy_scope scope, const yaml_node_t *node)
{
	struct sy_budget_entry entry, *added = add_entry(reading, scope, node);

	/* The list of entries may move meanwhile. */
	entry = *added;
	if (each_pair(reading, node, sy_scope_key(scope), take_in_entry, &entry) != 0)
		return -1;
	reading->budget->entries[reading->budget->n - 1] = entry;
	if (scope != SY_SCOPE_LINE && scope != SY_SCOPE_ACCEPT)
		return 0;
	if (!entry.name)
		return fail(reading, node, "at is missing: FILE:LINE or FILE:FUNCTION");
	if (entry.function && !entry.line)
		return fail(reading, node, "function goes with FILE:LINE in at");
	if (scope == SY_SCOPE_ACCEPT && !entry.reason)
		return fail(reading, node, "reason is missing: at=%.200s", entry.name);
	return 0;
}

static int read_list(struct reading *reading, enum sy_scope scope, const yaml_node_t *node)
{
	if (node->type != YAML_SEQUENCE_NODE)
		return fail(reading, node, "%s must be a list: each entry begins with \"- at:\"", sy_scope_key(scope));
	for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
		if (read_entry(reading, scope, node_of(reading, *item)) != 0)
			return -1;
	return 0;
}

/* threads and ranks: a pattern, and what it limits. */
static int take_named(struct reading *reading, const char *word, const yaml_node_t *key, const yaml_node_t *value,
                      void *context)
{
	const enum sy_scope *scope = context;

	if (!*word)
		return fail(reading, key, "a name is missing");
	if (read_entry(reading, *scope, value) != 0)
		return -1;
	reading->budget->entries[reading->budget->n - 1].name = word;
	return 0;
}

/* ---- the document ----------------------------------------------------------------------------- */

static int read_version(struct reading *reading, const yaml_node_t *value)
{
	const char *text = text_of(reading, value);

	if (!text || strcmp(text, "1") != 0)
		return fail(reading, value, "a version this program does not know: given=%.80s known=%d",
		            text ? text : "", SY_BUDGET_VERSION);
	return 0;
}

static int read_statistic(struct reading *reading, const yaml_node_t *value)
{
	const char *text = text_of(reading, value);
	int found = text ? sy_statistic_find(text) : -1;

	if (found < 0)
		return fail(reading, value, "unknown statistic: name=%.80s known=max, median, mean", text ? text : "");
	reading->budget->has_statistic = true;
	reading->budget->statistic = (enum sy_statistic)found;
	return 0;
}

static int take_section(struct reading *reading, const char *word, const yaml_node_t *key, const yaml_node_t *value,
                        void *context)
{
	const char *known[2 + SY_N_SCOPES] = { "version", "statistic" };

	(void)context;
	if (strcmp(word, "version") == 0)
		return read_version(reading, value);
	if (strcmp(word, "statistic") == 0)
		return read_statistic(reading, value);
	for (int i = 0; i < SY_N_SCOPES; i++) {
		enum sy_scope scope = (enum sy_scope)i;

		known[2 + i] = sy_scope_key(scope);
		if (strcmp(word, known[2 + i]) != 0)
			continue;
		if (scope == SY_SCOPE_LINE || scope == SY_SCOPE_ACCEPT)
			return read_list(reading, scope, value);
		if (scope == SY_SCOPE_THREAD || scope == SY_SCOPE_RANK)
			return each_pair(reading, value, word, take_named, &scope);
		return read_entry(reading, scope, value);
	}
	return unknown_key(reading, key, word, known, 2 + SY_N_SCOPES);
}

static int read_document(struct reading *reading)
{
	const yaml_node_t *root = yaml_document_get_root_node(&reading->document);

	if (!root)
		return sy_err_set(reading->err, "%s:1:1: the budget is empty", reading->name);
	return each_pair(reading, root, "a budget", take_section, NULL);
}

static int not_yaml(const struct reading *reading, const yaml_parser_t *parser)
{
	return sy_err_set(reading->err, "%s:%zu:%zu: not YAML: %s", reading->name, parser->problem_mark.line + 1,
	                  parser->problem_mark.column + 1, parser->problem ? parser->problem : "unreadable");
}

/* A second document would be ignored, and with it its limits. */
static int expect_end(struct reading *reading, yaml_parser_t *parser)
{
	const yaml_node_t *root;
	int result = 0;

	if (!yaml_parser_load(parser, &reading->document))
		return not_yaml(reading, parser);
	root = yaml_document_get_root_node(&reading->document);
	if (root)
		result = fail(reading, root, "a second document in the same file");
	yaml_document_delete(&reading->document);
	return result;
}

int sy_budget_read(struct sy_budget *budget, const char *text, size_t bytes, const char *name, struct sy_err *err)
{
	struct reading reading = { .budget = budget, .name = name, .err = err };
	yaml_parser_t parser;
	int result;

	memset(budget, 0, sizeof(*budget));
	if (!yaml_parser_initialize(&parser))
		return sy_err_set(err, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (!yaml_parser_load(&parser, &reading.document)) {
		not_yaml(&reading, &parser);
		yaml_parser_delete(&parser);
		return -1;
	}
	result = read_document(&reading);
	yaml_document_delete(&reading.document);
	if (result == 0)
		result = expect_end(&reading, &parser);
	yaml_parser_delete(&parser);
	return result;
}
