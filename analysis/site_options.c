/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/site_options.h"

#include "analysis/cli.h"
#include "analysis/site.h"

int sy_site_option(const char *verb, int option, const char *value)
{
	uint32_t depth;

	switch (option) {
	case SY_OPTION_SITE_PATH:
		if (!*value)
			return sy_usage(verb, "a part of a path is missing: --site-path");
		if (!sy_site_take_path(value))
			return sy_usage(verb, "too many times --site-path: most=%d", SY_SITE_PATHS);
		return 0;
	case SY_OPTION_SITE_DEPTH:
		if (!sy_parse_count(value, &depth))
			return sy_usage(verb, "not a number of frames: --site-depth %s", value);
		sy_site_set_depth(depth);
		return 0;
	default:
		return sy_usage(verb, "unknown or incomplete option");
	}
}
