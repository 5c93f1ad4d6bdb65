/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python-layout.c - prints the row of interposer/python_layout.def for the
 *                   CPython whose headers it is compiled against
 *
 *	cc -I$(python3.12 -c 'import sysconfig; print(sysconfig.get_path("include"))') \
 *	   -I.../internal scripts/python-layout.c -o /tmp/layout && /tmp/layout
 *
 * For maintainers who add a version; not part of the build.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#else
#include <frameobject.h>
#endif

#if PY_VERSION_HEX < 0x030b0000
#define TSTATE (int)offsetof(PyThreadState, frame), -1
#define FRAME                                                                                                          \
	(int)offsetof(PyFrameObject, f_back), (int)offsetof(PyFrameObject, f_code),                                    \
		(int)offsetof(PyFrameObject, f_lasti)
#define OWNER -1, -1
#define START -1
#elif PY_VERSION_HEX < 0x030d0000
#define TSTATE (int)offsetof(PyThreadState, cframe), (int)offsetof(_PyCFrame, current_frame)
#define FRAME                                                                                                          \
	(int)offsetof(_PyInterpreterFrame, previous), (int)offsetof(_PyInterpreterFrame, f_code),                      \
		(int)offsetof(_PyInterpreterFrame, prev_instr)
#else
#define TSTATE (int)offsetof(PyThreadState, current_frame), -1
#define FRAME                                                                                                          \
	(int)offsetof(_PyInterpreterFrame, previous), (int)offsetof(_PyInterpreterFrame, f_executable),                \
		(int)offsetof(_PyInterpreterFrame, instr_ptr)
#endif
#if PY_VERSION_HEX >= 0x030b0000
#define START (int)offsetof(PyCodeObject, co_code_adaptive)
#if PY_VERSION_HEX >= 0x030c0000
#define OWNER (int)offsetof(_PyInterpreterFrame, owner), FRAME_OWNED_BY_CSTACK
#else
#define OWNER (int)offsetof(_PyInterpreterFrame, owner), -1
#endif
#endif
#if PY_VERSION_HEX >= 0x030a0000
#define LINES (int)offsetof(PyCodeObject, co_linetable)
#else
#define LINES (int)offsetof(PyCodeObject, co_lnotab)
#endif

int main(void)
{
	const int row[] = { PY_MINOR_VERSION,
		            TSTATE,
		            FRAME,
		            OWNER,
		            (int)offsetof(PyCodeObject, co_filename),
		            (int)offsetof(PyCodeObject, co_name),
		            LINES,
		            (int)offsetof(PyCodeObject, co_firstlineno),
		            START,
		            (int)sizeof(PyASCIIObject),
		            (int)sizeof(PyCompactUnicodeObject) };

	printf("LAYOUT(");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		printf("%s%d", i ? ", " : "", row[i]);
	printf(")\n");
	return 0;
}
