/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_options.h - --site-path and --site-depth, for every verb that names lines
 */
#ifndef SY_ANALYSIS_SITE_OPTIONS_H
#define SY_ANALYSIS_SITE_OPTIONS_H

/* Numbers for getopt_long, far from those of any verb. */
enum { SY_OPTION_SITE_PATH = 1024, SY_OPTION_SITE_DEPTH };

/* Sets what an option asks for; anything else is a mistake of the user. Returns 0 or SY_EXIT_USAGE, after a message. */
int sy_site_option(const char *verb, int option, const char *value);

#endif
