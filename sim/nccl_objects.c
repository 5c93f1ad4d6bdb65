/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_objects.c - sizes of the objects that PyTorch's ranks send each other
 *
 * all_gather_object() and gather_object() let the device find the largest of
 * the ranks' sizes, and cut each object at its size. The simulated device does
 * not compute: both would be 0, and the objects empty. Any size will do that is
 * large enough, since what follows a pickled object is ignored. So PyTorch's
 * own lines that read such a size are looked up and shown a large one.
 */
#include "sim/nccl.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim/torch_pin.h"
#include "sim/values.h"

#define FILE_NAME "distributed/distributed_c10d.py"

/* Bytes. An object that is larger cannot be read. */
enum { LARGE = 65536 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool reads_a_size(const char *line)
{
	return strstr(line, "max_object_size = int(max(object_size_list)") || strstr(line, ".tobytes()[:tensor_size]");
}

static void find_lines(FILE *file)
{
	char text[1024];
	unsigned line = 1;

	while (fgets(text, sizeof text, file)) {
		if (reads_a_size(text))
			sim_values_suggest("torch/" FILE_NAME, line, LARGE);
		/* A longer line comes in pieces. */
		if (strchr(text, '\n'))
			line++;
	}
}

void sim_nccl_know_objects(const void *caller)
{
	char path[2 * PATH_MAX], package[PATH_MAX];
	static bool is_done;

	pthread_mutex_lock(&lock);
	if (!is_done && sim_torch_package(caller, package)) {
		snprintf(path, sizeof path, "%s/" FILE_NAME, package);
		FILE *file = fopen(path, "re");
		if (file) {
			find_lines(file);
			fclose(file);
		}
		is_done = true;
	}
	pthread_mutex_unlock(&lock);
}
