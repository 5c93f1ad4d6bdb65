/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_api.h - the running interpreter's functions, found by name
 *
 * Nothing is linked against Python, and none of its headers is needed. Unless a
 * comment says otherwise these are called with the GIL held.
 */
#ifndef SY_INTERPOSER_PYTHON_API_H
#define SY_INTERPOSER_PYTHON_API_H

#include <stdbool.h>

struct py_object; /* PyObject */

/* PyMethodDef, part of the stable ABI. */
struct py_method {
	const char *name;
	struct py_object *(*function)(struct py_object *self, struct py_object *arguments);
	int flags; /* PY_METH_VARARGS */
	const char *doc;
};
#define PY_METH_VARARGS 1
#define PY_FILE_INPUT 257 /* Py_file_input */

struct sy_python_api {
#define PYTHON_API(type, name, params) type(*name) params;
#include "python_api.def"
#undef PYTHON_API
	struct py_object *none; /* &_Py_NoneStruct */
};

extern struct sy_python_api sy_py;

/* Fills sy_py. False, and nothing is left behind, if no interpreter is mapped or it lacks a name. No GIL needed. */
bool sy_python_api_find(void);

#endif
