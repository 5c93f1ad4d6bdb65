/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/render.h"

#include <string.h>

sy_render_fn *sy_render_find(const char *name)
{
	static const struct {
		const char *name;
		sy_render_fn *render;
	} renderers[] = {
#define RENDERER(name) { #name, sy_render_##name },
#include "analysis/renderers.def"
#undef RENDERER
	};

	for (size_t i = 0; i < sizeof(renderers) / sizeof(renderers[0]); i++)
		if (strcmp(renderers[i].name, name) == 0)
			return renderers[i].render;
	return NULL;
}

const char *sy_render_names(void)
{
	static const char names[] =
#define RENDERER(name) ", " #name
#include "analysis/renderers.def"
#undef RENDERER
		;

	return names + 2;
}
