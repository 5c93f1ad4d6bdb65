/* SPDX-License-Identifier: Apache-2.0 */
/* step_torch.c - PyTorch's optimizer hooks, registered from outside */
#include "interposer/compiler.h"
#include "interposer/config.h"
#include "interposer/python.h"
#include "interposer/python_api.h"
#include "interposer/state.h"
#include "interposer/step.h"

#include <stddef.h>
#include <string.h>

/* How far we are with the hooks. Changed under the GIL. */
enum progress { LOOKING, OPTIM_IMPORTED, BUSY, DONE };

static enum progress progress;
static uint32_t is_watching; /* atomic; an audit hook is in place */
static uint32_t is_pending;  /* atomic; a pending call is queued */

/* What this thread's last pre-step hook announced and no post-step hook has closed yet. */
static SY_TLS const struct py_object *open_step;

#define MAX_STEPPERS 64
static const struct py_object *steppers[MAX_STEPPERS];

/* A small number for an optimizer. Compared, never followed: it may be gone. GIL held. */
static uint32_t stepper_number(const struct py_object *optimizer)
{
	for (uint32_t i = 0; i < MAX_STEPPERS; i++) {
		if (!steppers[i])
			steppers[i] = optimizer;
		if (steppers[i] == optimizer)
			return i + 1;
	}
	return 0;
}

static struct py_object *return_none(void)
{
	sy_py.Py_IncRef(sy_py.none);
	return sy_py.none;
}

static struct py_object *before_step(struct py_object *self, struct py_object *arguments)
{
	(void)self;
	open_step = sy_py.PyTuple_GetItem(arguments, 0);
	return return_none();
}

/*
 * A subclass whose step() calls super().step() runs the hooks twice, inner ones
 * inside the outer: pre, pre, post, post. Only the first post behind a pre is
 * the end of a step.
 */
static struct py_object *after_step(struct py_object *self, struct py_object *arguments)
{
	const struct py_object *optimizer = sy_py.PyTuple_GetItem(arguments, 0);

	(void)self;
	if (open_step == optimizer) {
		open_step = NULL;
		sy_step_end(SY_STEP_TORCH, stepper_number(optimizer));
	}
	return return_none();
}

/*
 * torch.compile follows hooks and complains about a builtin it cannot trace; a
 * Python function marked as not to be compiled is passed over in silence.
 */
static struct py_object *wrap_for_dynamo(struct py_object *function)
{
	static const char source[] =
		"def hook(optimizer, args, kwargs):\n"
		"    function(optimizer, args, kwargs)\n"
		"hook._torchdynamo_disable = True\n";
	struct py_object *globals = sy_py.PyDict_New();
	struct py_object *code = globals ? sy_py.Py_CompileString(source, "<synctally>", PY_FILE_INPUT) : NULL;
	struct py_object *builtins = sy_py.PyDict_GetItemString(sy_py.PyImport_GetModuleDict(), "builtins");
	struct py_object *hook = NULL;

	if (code && builtins && sy_py.PyDict_SetItemString(globals, "__builtins__", builtins) == 0 &&
	    sy_py.PyDict_SetItemString(globals, "function", function) == 0) {
		struct py_object *result = sy_py.PyEval_EvalCode(code, globals, globals);

		if (result) {
			hook = sy_py.PyDict_GetItemString(globals, "hook");
			sy_py.Py_DecRef(result);
		}
	}
	if (hook)
		sy_py.Py_IncRef(hook);
	if (code)
		sy_py.Py_DecRef(code);
	if (globals)
		sy_py.Py_DecRef(globals);
	return hook;
}

static bool register_hook(struct py_object *module, const char *registrar, struct py_method *method)
{
	struct py_object *function = sy_py.PyCFunction_NewEx(method, NULL, NULL);
	struct py_object *hook = function ? wrap_for_dynamo(function) : NULL;
	struct py_object *registrar_object = hook ? sy_py.PyObject_GetAttrString(module, registrar) : NULL;
	struct py_object *handle =
		registrar_object ? sy_py.PyObject_CallFunctionObjArgs(registrar_object, hook, (void *)NULL) : NULL;
	bool is_registered = handle != NULL;

	/* The handle has no finalizer: letting it go leaves the hook in place. */
	if (handle)
		sy_py.Py_DecRef(handle);
	if (registrar_object)
		sy_py.Py_DecRef(registrar_object);
	if (hook)
		sy_py.Py_DecRef(hook);
	if (function)
		sy_py.Py_DecRef(function);
	return is_registered;
}

/* GIL held, no matter where: whatever exception is being handled is put back as it was. */
static void try_to_register(void)
{
	static struct py_method before = { "synctally_before_step", before_step, PY_METH_VARARGS, NULL };
	static struct py_method after = { "synctally_after_step", after_step, PY_METH_VARARGS, NULL };
	struct py_object *type, *value, *traceback, *module;
	enum progress was = progress;

	if (progress >= BUSY)
		return;
	progress = BUSY; /* what follows raises audit events itself */
	sy_py.PyErr_Fetch(&type, &value, &traceback);
	module = sy_py.PyDict_GetItemString(sy_py.PyImport_GetModuleDict(), "torch.optim.optimizer");
	if (module && register_hook(module, "register_optimizer_step_pre_hook", &before) &&
	    register_hook(module, "register_optimizer_step_post_hook", &after))
		progress = DONE;
	else
		progress = was;
	sy_py.PyErr_Clear();
	sy_py.PyErr_Restore(type, value, traceback);
}

static bool is_steps_wanted(void)
{
	return sy_config.steps == SY_STEPS_AUTO || sy_config.steps == SY_STEPS_TORCH;
}

static bool names_optim(struct py_object *arguments)
{
	struct py_object *name = arguments ? sy_py.PyTuple_GetItem(arguments, 0) : NULL;
	const char *text = name ? sy_py.PyUnicode_AsUTF8AndSize(name, NULL) : NULL;

	if (!text) {
		sy_py.PyErr_Clear();
		return false;
	}
	return strcmp(text, "torch.optim.optimizer") == 0;
}

/* Every audit event of the process comes here; it must be quick and may never refuse. */
static int on_audit(const char *event, struct py_object *arguments, void *data)
{
	(void)data;
	if (SY_LIKELY(progress >= BUSY) || (strcmp(event, "import") != 0 && strcmp(event, "exec") != 0))
		return 0;
	sy_python_check();
	if (!is_steps_wanted())
		return 0;
	if (progress == OPTIM_IMPORTED)
		try_to_register();
	else if (event[0] == 'i' && names_optim(arguments))
		progress = OPTIM_IMPORTED; /* being imported: the registrars exist a few events later */
	return 0;
}

void sy_step_watch_python(void)
{
	if (!sy_python_find() || sy_py.PySys_AddAuditHook(on_audit, NULL) != 0)
		return;
	__atomic_store_n(&is_watching, 1, __ATOMIC_RELEASE);
}

/* In the interpreter's main thread, with the GIL. */
static int on_pending(void *data)
{
	(void)data;
	sy_python_check();
	if (is_steps_wanted())
		try_to_register();
	return 0;
}

void sy_step_poke_python(void)
{
	if (__atomic_load_n(&is_watching, __ATOMIC_ACQUIRE) || __atomic_load_n(&is_pending, __ATOMIC_ACQUIRE))
		return;
	if (!sy_python_find() || !sy_py.Py_IsInitialized())
		return;
	if (__atomic_exchange_n(&is_pending, 1, __ATOMIC_ACQ_REL) == 0 &&
	    sy_py.Py_AddPendingCall(on_pending, NULL) != 0)
		__atomic_store_n(&is_pending, 0, __ATOMIC_RELEASE);
}
