/* SPDX-License-Identifier: Apache-2.0 */
/* render_json.h - parts of the JSON report that have a file of their own */
#ifndef SY_ANALYSIS_RENDER_JSON_H
#define SY_ANALYSIS_RENDER_JSON_H

#include "analysis/aggregate.h"

#include <jansson.h>

json_t *sy_json_who_pays(const struct sy_profile *profile);
/* The profile must have an order. */
json_t *sy_json_order(const struct sy_profile *profile);

#endif
