/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/python_api.h"

#include "interposer/dl.h"

#include <dlfcn.h>
#include <stddef.h>

struct sy_python_api sy_py;

bool sy_python_api_find(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} wanted[] = {
#define PYTHON_API(type, name, params) { #name, offsetof(struct sy_python_api, name) },
#include "python_api.def"
#undef PYTHON_API
		{ "_Py_NoneStruct", offsetof(struct sy_python_api, none) },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		/* Asked of the tables first: a failed dlsym would leave its message for the program's dlerror(). */
		void *at = sy_dl_is_defined(wanted[i].name) ? sy_libc_dlsym(RTLD_DEFAULT, wanted[i].name) : NULL;

		if (!at)
			return false;
		*(void **)((char *)&sy_py + wanted[i].offset) = at;
	}
	return true;
}
