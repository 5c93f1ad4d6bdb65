/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvrtc.c - the simulated libnvrtc: source text becomes an image that the simulated driver loads
 *
 * Nothing is compiled, so nothing is found wrong with the source either. The
 * image is PTX with an empty entry for each name that was asked for; the driver
 * launches any function that a module is asked for. Compiling takes no time.
 * Functions, codes and what they mean: public NVRTC documentation; its enum is
 * declared int, and a program is an opaque pointer.
 */
#include "sim/knobs.h"
#include "sim/say.h"

#include <ctype.h>
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

/* nvrtcResult: the number is the row. */
#define RESULTS(R)                                                                                                     \
	R(SUCCESS)                                                                                                     \
	R(ERROR_OUT_OF_MEMORY)                                                                                         \
	R(ERROR_PROGRAM_CREATION_FAILURE)                                                                              \
	R(ERROR_INVALID_INPUT)                                                                                         \
	R(ERROR_INVALID_PROGRAM)                                                                                       \
	R(ERROR_INVALID_OPTION)                                                                                        \
	R(ERROR_COMPILATION)                                                                                           \
	R(ERROR_BUILTIN_OPERATION_FAILURE)                                                                             \
	R(ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)                                                                 \
	R(ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)                                                                   \
	R(ERROR_NAME_EXPRESSION_NOT_VALID)                                                                             \
	R(ERROR_INTERNAL_ERROR)                                                                                        \
	R(ERROR_TIME_FILE_WRITE_FAILED)                                                                                \
	R(ERROR_NO_PCH_CREATE_ATTEMPTED)                                                                               \
	R(ERROR_PCH_CREATE_HEAP_EXHAUSTED)                                                                             \
	R(ERROR_PCH_CREATE)                                                                                            \
	R(ERROR_CANCELLED)

#define RESULT_VALUE(name) RTC_##name,
#define RESULT_TEXT(name) "NVRTC_" #name,
enum { RESULTS(RESULT_VALUE) N_RESULTS };

static const char *const result_texts[] = { RESULTS(RESULT_TEXT) };

/* What the compiler of each CUDA version makes code for, by its documentation. The device says 8.9. */
#if SIM_NVRTC_MAJOR < 13
static const int architectures[] = { 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90 };
#else
static const int architectures[] = { 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121 };
#endif
#define N_ARCHITECTURES (sizeof(architectures) / sizeof(architectures[0]))

struct name {
	struct name *next;
	char *expression; /* as the program wrote it; in the same allocation as the structure */
	char lowered[];
};

struct program {
	struct program *next;
	struct name *names;
	char *ptx; /* NULL until compiled */
};

static struct {
	pthread_mutex_t lock;
	struct program *programs;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Two threads never work on one program: only the list is guarded. */
static struct program *find(const void *handle)
{
	struct program *program;

	pthread_mutex_lock(&all.lock);
	for (program = all.programs; program && program != handle; program = program->next)
		;
	pthread_mutex_unlock(&all.lock);
	return program;
}

static void free_program(struct program *program)
{
	while (program->names) {
		struct name *next = program->names->next;

		free(program->names);
		program->names = next;
	}
	free(program->ptx);
	free(program);
}

EXPORTED(const char *nvrtcGetErrorString(int result))
{
	return result >= 0 && result < N_RESULTS ? result_texts[result] : "NVRTC_ERROR unknown";
}

EXPORTED(int nvrtcVersion(int *major, int *minor))
{
	if (!major || !minor)
		return RTC_ERROR_INVALID_INPUT;
	*major = CUDA_VERSION / 1000;
	*minor = CUDA_VERSION % 1000 / 10;
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcGetNumSupportedArchs(int *n))
{
	if (!n)
		return RTC_ERROR_INVALID_INPUT;
	*n = (int)N_ARCHITECTURES;
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcGetSupportedArchs(int *supported))
{
	if (!supported)
		return RTC_ERROR_INVALID_INPUT;
	memcpy(supported, architectures, sizeof(architectures));
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcCreateProgram(void **handle, const char *source, const char *name, int n_headers,
                                const char *const *headers, const char *const *include_names))
{
	struct program *program;

	(void)name;
	if (!handle || !source || n_headers < 0 || (n_headers > 0 && (!headers || !include_names)))
		return RTC_ERROR_INVALID_INPUT;
	program = calloc(1, sizeof(*program));
	if (!program)
		return RTC_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&all.lock);
	program->next = all.programs;
	all.programs = program;
	pthread_mutex_unlock(&all.lock);
	*handle = program;
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcDestroyProgram(void **handle))
{
	struct program **link, *program;

	if (!handle)
		return RTC_ERROR_INVALID_PROGRAM;
	pthread_mutex_lock(&all.lock);
	for (link = &all.programs; *link && *link != *handle; link = &(*link)->next)
		;
	program = *link;
	if (program)
		*link = program->next;
	pthread_mutex_unlock(&all.lock);
	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	free_program(program);
	*handle = NULL;
	return RTC_SUCCESS;
}

static struct name *find_name(const struct program *program, const char *expression)
{
	struct name *name = program->names;

	while (name && strcmp(name->expression, expression) != 0)
		name = name->next;
	return name;
}

/* The real one's names are mangled; these are the expression with what a symbol cannot hold replaced. */
EXPORTED(int nvrtcAddNameExpression(void *handle, const char *expression))
{
	struct program *program = find(handle);
	struct name *name;
	size_t i, length;

	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	if (!expression)
		return RTC_ERROR_INVALID_INPUT;
	if (program->ptx)
		return RTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
	if (find_name(program, expression))
		return RTC_SUCCESS;
	length = strlen(expression);
	name = malloc(sizeof(*name) + 2 * (length + 1));
	if (!name)
		return RTC_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < length; i++)
		name->lowered[i] = (char)(isalnum((unsigned char)expression[i]) ? expression[i] : '_');
	name->lowered[length] = '\0';
	name->expression = name->lowered + length + 1;
	strcpy(name->expression, expression);
	name->next = program->names;
	program->names = name;
	return RTC_SUCCESS;
}

static char *make_ptx(const struct program *program)
{
	const struct name *name;
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	bool is_whole;

	if (!file)
		return NULL;
	fprintf(file,
	        "// by the simulated NVRTC: what was compiled is not in here\n"
	        ".version 8.0\n.target sm_89\n.address_size 64\n");
	for (name = program->names; name; name = name->next)
		fprintf(file, ".visible .entry %s() { ret; }\n", name->lowered);
	is_whole = !ferror(file);
	if (fclose(file) == 0 && is_whole)
		return text;
	free(text);
	return NULL;
}

EXPORTED(int nvrtcCompileProgram(void *handle, int n_options, const char *const *options))
{
	struct program *program = find(handle);
	char *ptx;

	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	if (n_options < 0 || (n_options > 0 && !options))
		return RTC_ERROR_INVALID_INPUT;
	ptx = make_ptx(program);
	if (!ptx)
		return RTC_ERROR_OUT_OF_MEMORY;
	free(program->ptx);
	program->ptx = ptx;
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcGetLoweredName(void *handle, const char *expression, const char **lowered))
{
	struct program *program = find(handle);
	struct name *name;

	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	if (!expression || !lowered)
		return RTC_ERROR_INVALID_INPUT;
	if (!program->ptx)
		return RTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	name = find_name(program, expression);
	if (!name)
		return RTC_ERROR_NAME_EXPRESSION_NOT_VALID;
	*lowered = name->lowered;
	return RTC_SUCCESS;
}

static int text_size(const struct program *program, const char *text, size_t *bytes)
{
	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	if (!bytes || !program->ptx)
		return RTC_ERROR_INVALID_INPUT;
	*bytes = strlen(text) + 1;
	return RTC_SUCCESS;
}

static int give_text(const struct program *program, const char *text, char *into)
{
	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	if (!into || !program->ptx)
		return RTC_ERROR_INVALID_INPUT;
	strcpy(into, text);
	return RTC_SUCCESS;
}

static const char *ptx_of(const struct program *program)
{
	return program && program->ptx ? program->ptx : "";
}

EXPORTED(int nvrtcGetPTXSize(void *handle, size_t *bytes))
{
	struct program *program = find(handle);

	return text_size(program, ptx_of(program), bytes);
}

EXPORTED(int nvrtcGetPTX(void *handle, char *ptx))
{
	struct program *program = find(handle);

	return give_text(program, ptx_of(program), ptx);
}

/* The driver loads either, so the same text stands for machine code. */
EXPORTED(int nvrtcGetCUBINSize(void *handle, size_t *bytes))
{
	return nvrtcGetPTXSize(handle, bytes);
}

EXPORTED(int nvrtcGetCUBIN(void *handle, char *cubin))
{
	return nvrtcGetPTX(handle, cubin);
}

EXPORTED(int nvrtcGetProgramLogSize(void *handle, size_t *bytes))
{
	return text_size(find(handle), "", bytes);
}

EXPORTED(int nvrtcGetProgramLog(void *handle, char *log))
{
	return give_text(find(handle), "", log);
}

/* Forms for other linkers. Their sizes are 0 where the program was not compiled for them, as documented; asking for one is refused. */
static int no_other_form(void *handle, size_t *bytes)
{
	struct program *program = find(handle);

	if (!program)
		return RTC_ERROR_INVALID_PROGRAM;
	if (!bytes || !program->ptx)
		return RTC_ERROR_INVALID_INPUT;
	*bytes = 0;
	return RTC_SUCCESS;
}

#define OTHER_FORM(form)                                                                                               \
	EXPORTED(int nvrtcGet##form##Size(void *handle, size_t *bytes))                                                \
	{                                                                                                              \
		return no_other_form(handle, bytes);                                                                   \
	}                                                                                                              \
	EXPORTED(int nvrtcGet##form(void *handle, char *into))                                                         \
	{                                                                                                              \
		(void)into;                                                                                            \
		sim_refuse("nvrtcGet" #form);                                                                          \
		return find(handle) ? RTC_ERROR_INVALID_INPUT : RTC_ERROR_INVALID_PROGRAM;                             \
	}
OTHER_FORM(LTOIR)
OTHER_FORM(OptiXIR)
OTHER_FORM(TileIR)
#if SIM_NVRTC_MAJOR < 13
OTHER_FORM(NVVM)
#endif

/* Precompiled headers are a matter of speed: none is made. */
EXPORTED(int nvrtcGetPCHHeapSize(size_t *bytes))
{
	if (!bytes)
		return RTC_ERROR_INVALID_INPUT;
	*bytes = 0;
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcSetPCHHeapSize(size_t bytes))
{
	(void)bytes;
	return RTC_SUCCESS;
}

EXPORTED(int nvrtcGetPCHCreateStatus(void *handle))
{
	return find(handle) ? RTC_ERROR_NO_PCH_CREATE_ATTEMPTED : RTC_ERROR_INVALID_PROGRAM;
}

EXPORTED(int nvrtcGetPCHHeapSizeRequired(void *handle, size_t *bytes))
{
	return no_other_form(handle, bytes);
}

EXPORTED(int nvrtcSetFlowCallback(void *handle, int (*callback)(void *, void *), void *payload))
{
	(void)payload;
	if (!callback)
		return RTC_ERROR_INVALID_INPUT;
	return find(handle) ? RTC_SUCCESS : RTC_ERROR_INVALID_PROGRAM;
}
