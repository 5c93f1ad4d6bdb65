/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/python.h"

#include "interposer/compiler.h"
#include "interposer/dl.h"
#include "interposer/log.h"
#include "interposer/pylines.h"
#include "interposer/python_api.h"

#include <stdlib.h>
#include <string.h>

struct layout {
	int minor;
	int tstate, cframe;
	int previous, code, instr, owner, skip;
	int filename, name, linetable, firstline, start;
	int ascii, other;
};

static const struct layout layouts[] = {
#define LAYOUT(...) { __VA_ARGS__ },
#include "python_layout.def"
#undef LAYOUT
};

/* Same in all versions of the table: str.length and str.state, bytes.ob_size and bytes.ob_sval. */
enum { STR_LENGTH = 16, STR_STATE = 32, BYTES_SIZE = 16, BYTES_VALUE = 32 };
enum { STATE_KIND_SHIFT = 2, STATE_KIND_MASK = 7, STATE_COMPACT = 1 << 5, STATE_ASCII = 1 << 6 };

enum status { UNCHECKED, READY, UNUSABLE };

static const struct layout *layout;
static enum status status; /* atomic */
static bool is_found;

#define FIELD(object, offset, type) (*(const type *)((const char *)(object) + (offset)))

static const char *reason; /* atomic; why Python stacks are off, until it has been said */

/* Said when the first line is missed, so that a program without CUDA calls hears nothing. */
static SY_COLD void say_reason(void)
{
	const char *unsaid = __atomic_exchange_n(&reason, NULL, __ATOMIC_ACQ_REL);

	if (unsaid)
		sy_log("no Python lines: ", unsaid, "; calls are named by their native callers only");
}

bool sy_python_is_ready(void)
{
	if (SY_LIKELY(__atomic_load_n(&status, __ATOMIC_ACQUIRE) == READY))
		return true;
	if (__atomic_load_n(&reason, __ATOMIC_ACQUIRE))
		say_reason();
	return false;
}

static void set_unusable(const char *why)
{
	if (__atomic_exchange_n(&status, UNUSABLE, __ATOMIC_ACQ_REL) != UNUSABLE)
		__atomic_store_n(&reason, why, __ATOMIC_RELEASE);
}

static void choose_layout(void)
{
	const char *version = sy_py.Py_GetVersion();
	int minor = strncmp(version, "3.", 2) == 0 ? atoi(version + 2) : -1;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].minor == minor)
			layout = &layouts[i];
	if (!layout)
		set_unusable("this version of Python is not known to us");
	else if (strstr(version, "free-threading"))
		set_unusable("a free-threaded build of Python");
}

bool sy_python_find(void)
{
	if (is_found)
		return true;
	if (sy_python_api_find()) {
		choose_layout();
		is_found = true;
	} else if (sy_dl_is_defined("Py_GetVersion")) {
		set_unusable("this version of Python is not known to us");
	}
	return is_found;
}

static const char *first_frame(void)
{
	const char *tstate = sy_py.PyGILState_GetThisThreadState();

	if (!tstate)
		return NULL;
	tstate = FIELD(tstate, layout->tstate, char *);
	return layout->cframe >= 0 && tstate ? FIELD(tstate, layout->cframe, char *) : tstate;
}

static bool is_skipped(const char *frame)
{
	return layout->skip >= 0 && FIELD(frame, layout->owner, char) == layout->skip;
}

static uint64_t load_8(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/*
 * Code made by exec() and notebooks is freed, and the next one often takes its
 * place, its file name's and its line table's. So their contents count, not
 * only their addresses: the end of the name, the beginning of the table. Eight
 * bytes there are inside the objects, which are allocated in sixteens.
 */
static uint64_t stamp_of(const char *code)
{
	const char *table = FIELD(code, layout->linetable, char *);
	const char *file = FIELD(code, layout->filename, char *);
	uint64_t table_bytes = (uint64_t)FIELD(table, BYTES_SIZE, long);
	uint64_t file_length = (uint64_t)FIELD(file, STR_LENGTH, long);
	uint64_t stamp = (uint64_t)(uintptr_t)table ^ table_bytes << 48 ^ file_length << 56;

	stamp = stamp * 0x9e3779b97f4a7c15ull ^ load_8(table + BYTES_VALUE);
	stamp = stamp * 0x9e3779b97f4a7c15ull ^ load_8(file + layout->ascii + file_length - 8);
	return stamp ^ (uint64_t)FIELD(code, layout->firstline, int) << 32;
}

unsigned sy_python_walk(struct sy_python_frame *frames, unsigned capacity)
{
	const char *frame = first_frame();
	unsigned n = 0;

	/* Twice the capacity bounds the walk over frames that are passed over. */
	for (unsigned seen = 0; frame && n < capacity && seen < 2 * capacity; seen++) {
		if (!is_skipped(frame)) {
			const char *code = FIELD(frame, layout->code, char *);

			frames[n].code = (uint64_t)(uintptr_t)code;
			frames[n].instr = layout->owner < 0 ? (uint64_t)FIELD(frame, layout->instr, int)
			                                    : (uint64_t)FIELD(frame, layout->instr, uintptr_t);
			frames[n].stamp = stamp_of(code);
			n++;
		}
		frame = FIELD(frame, layout->previous, char *);
	}
	return n;
}

static size_t put_utf8(char *at, uint32_t c)
{
	if (c < 0x80) {
		at[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		at[0] = (char)(0xc0 | c >> 6);
		at[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		at[0] = (char)(0xe0 | c >> 12);
		at[1] = (char)(0x80 | (c >> 6 & 63));
		at[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	at[0] = (char)(0xf0 | c >> 18);
	at[1] = (char)(0x80 | (c >> 12 & 63));
	at[2] = (char)(0x80 | (c >> 6 & 63));
	at[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* A str as UTF-8: in place if ASCII, else converted into the buffer and cut there. */
static const char *read_text(const char *text, char *buffer, size_t capacity, size_t *bytes)
{
	size_t length = (size_t)FIELD(text, STR_LENGTH, long);
	unsigned state = FIELD(text, STR_STATE, unsigned);
	unsigned kind = state >> STATE_KIND_SHIFT & STATE_KIND_MASK;
	const char *data = text + layout->other;

	*bytes = 0;
	if (!(state & STATE_COMPACT))
		return "?"; /* names and file names of code objects are always compact */
	if (state & STATE_ASCII) {
		*bytes = length;
		return text + layout->ascii;
	}
	for (size_t i = 0; i < length && *bytes + 4 <= capacity; i++) {
		uint32_t c = kind == 1   ? ((const uint8_t *)data)[i]
		             : kind == 2 ? ((const uint16_t *)data)[i]
		                         : ((const uint32_t *)data)[i];

		*bytes += put_utf8(buffer + *bytes, c);
	}
	return buffer;
}

static uint32_t read_line(const struct sy_python_frame *frame, const char *code, uint32_t first_line)
{
	const char *object = FIELD(code, layout->linetable, char *);
	const uint8_t *table = (const uint8_t *)object + BYTES_VALUE;
	size_t bytes = (size_t)FIELD(object, BYTES_SIZE, long);
	uint64_t offset = frame->instr;

	if (layout->minor == 9)
		return sy_pylines_lnotab(table, bytes, first_line, (uint32_t)offset);
	if (layout->minor == 10)
		return sy_pylines_ranges(table, bytes, first_line, (uint32_t)offset * 2);
	offset -= (uint64_t)(uintptr_t)code + (uint64_t)layout->start;
	/* In front of the first instruction (the frame has just begun) counts as on it. */
	return sy_pylines_locations(table, bytes, first_line, (int64_t)offset < 0 ? 0 : (uint32_t)(offset / 2));
}

void sy_python_line(const struct sy_python_frame *frame, struct sy_python_line *line)
{
	const char *code = (const char *)(uintptr_t)frame->code;

	line->first_line = (uint32_t)FIELD(code, layout->firstline, int);
	line->line = read_line(frame, code, line->first_line);
	line->file = read_text(FIELD(code, layout->filename, char *), line->file_buffer, sizeof(line->file_buffer),
	                       &line->file_bytes);
	line->function = read_text(FIELD(code, layout->name, char *), line->function_buffer,
	                           sizeof(line->function_buffer), &line->function_bytes);
}

/* Does the interpreter name the same code, line, file and function for this frame? */
static bool agrees(struct py_object *frame, const struct sy_python_frame *walked)
{
	struct py_object *code = sy_py.PyFrame_GetCode(frame);
	struct py_object *file = sy_py.PyObject_GetAttrString(code, "co_filename");
	struct py_object *name = sy_py.PyObject_GetAttrString(code, "co_name");
	int number = sy_py.PyFrame_GetLineNumber(frame);
	bool is_same = (uint64_t)(uintptr_t)code == walked->code && file && name;
	long file_bytes = 0, name_bytes = 0;
	const char *file_text = is_same ? sy_py.PyUnicode_AsUTF8AndSize(file, &file_bytes) : NULL;
	const char *name_text = is_same ? sy_py.PyUnicode_AsUTF8AndSize(name, &name_bytes) : NULL;

	if (file_text && name_text) {
		struct sy_python_line line;

		sy_python_line(walked, &line);
		is_same = line.line == (uint32_t)(number > 0 ? number : 0) && line.file_bytes == (size_t)file_bytes &&
		          line.function_bytes == (size_t)name_bytes &&
		          memcmp(line.file, file_text, line.file_bytes) == 0 &&
		          memcmp(line.function, name_text, line.function_bytes) == 0;
	}
	sy_py.PyErr_Clear(); /* a name that is not UTF-8 cannot be compared, and is no reason to differ */
	if (file)
		sy_py.Py_DecRef(file);
	if (name)
		sy_py.Py_DecRef(name);
	sy_py.Py_DecRef(code);
	return is_same;
}

void sy_python_check(void)
{
	struct sy_python_frame walked[SY_PYTHON_DEPTH];
	struct py_object *frame;
	bool is_same = true;
	unsigned n, i = 0;

	if (__atomic_load_n(&status, __ATOMIC_ACQUIRE) != UNCHECKED)
		return;
	frame = sy_py.PyEval_GetFrame();
	if (!frame)
		return;
	n = sy_python_walk(walked, SY_PYTHON_DEPTH);
	sy_py.Py_IncRef(frame);
	while (frame && is_same && i < n) {
		struct py_object *back;

		is_same = agrees(frame, &walked[i++]);
		back = sy_py.PyFrame_GetBack(frame);
		sy_py.Py_DecRef(frame);
		frame = back;
	}
	is_same = is_same && i > 0 && (i == SY_PYTHON_DEPTH || (i == n && !frame));
	if (frame)
		sy_py.Py_DecRef(frame);
	if (is_same)
		__atomic_store_n(&status, READY, __ATOMIC_RELEASE);
	else
		set_unusable("this build of Python is laid out in another way than we know");
}
