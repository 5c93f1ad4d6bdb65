/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simlibs.c - what is preloaded for which command
 *
 * The PyTorch is made here, with the compiler: two small libraries that need
 * and import what the real ones do. The Python is a shell script that answers
 * where that PyTorch is and writes down the options it was given.
 */
#include "analysis/simlibs.h"
#include "analysis/vendor_names.h"

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATH_ROOM 4096

static char root[] = "/tmp/synctally-simlibs-XXXXXX";
static char out[65536], err[1024];

static const char *in_root(const char *name)
{
	static char path[8][PATH_ROOM];
	static unsigned turn;
	char *at = path[turn++ % 8];

	snprintf(at, PATH_ROOM, "%s/%s", root, name);
	return at;
}

static void shell(const char *command)
{
	char line[8192];

	snprintf(line, sizeof(line), "cd %s && %s", root, command);
	if (system(line) != 0)
		fail_msg("failed: %s", line);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(in_root(name), "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(in_root(name), mode), 0);
}

/* Calls the function under test with a command of up to four words. */
static int preload(const char *first, const char *second, const char *third, const char *fourth)
{
	char *argv[] = { (char *)first, (char *)second, (char *)third, (char *)fourth, NULL };

	memset(out, 0, sizeof(out));
	memset(err, 0, sizeof(err));
	return sy_simlibs_preload(in_root("sim"), argv, out, sizeof(out), err, sizeof(err));
}

static int preload_python(void)
{
	return preload(in_root("bin/python3"), "train.py", NULL, NULL);
}

/* The entry of the list that ends with this name, or NULL. */
static const char *entry(const char *name)
{
	static char found[PATH_ROOM];
	char list[sizeof(out)], *save = NULL, *path;

	memcpy(list, out, sizeof(list));
	for (path = strtok_r(list, ":", &save); path; path = strtok_r(NULL, ":", &save)) {
		const char *slash = strrchr(path, '/');

		if (slash && strcmp(slash + 1, name) == 0) {
			snprintf(found, sizeof(found), "%s", path);
			return found;
		}
	}
	return NULL;
}

static void use_python(const char *torch)
{
	char script[2 * PATH_ROOM];

	snprintf(script, sizeof(script),
	         "#!/bin/sh\necho noise on stdout\nfor word; do case $word in -c) break;; *) printf '%%s ' \"$word\";; "
	         "esac; "
	         "done > %s/options\nprintf 'synctally-torch=%%s\\n' '%s'\n",
	         root, torch);
	write_file("bin/python3", script, 0755);
}

/* A library of one function under a version node, as NVIDIA's are. */
static void make_library(const char *dir, const char *soname, const char *function, const char *node)
{
	char command[2048];

	snprintf(command, sizeof(command),
	         "echo '%s { global: *; };' > map && echo 'int %s(void); int %s(void) { return 0; }' | "
	         "cc -shared -fPIC -o %s/%s -x c - -Wl,-soname,%s -Wl,--version-script=map",
	         node, function, function, dir, soname, soname);
	shell(command);
}

static void make_torch(const char *package, int major)
{
	char command[4096], cudart[32], cublas[32];

	snprintf(command, sizeof(command), "mkdir -p %s/lib made", package);
	shell(command);
	snprintf(cudart, sizeof(cudart), "libcudart.so.%d", major);
	snprintf(cublas, sizeof(cublas), "libcublas.so.%d", major);
	make_library("made", cudart, "cudaMalloc", cudart);
	make_library("made", cublas, "cublasOfTomorrow", cublas);
	make_library("made", "libcudnn.so.9", "cudnnGetVersion", "libcudnn.so.9");
	snprintf(command, sizeof(command),
	         "echo 'int cudaMalloc(void), cublasOfTomorrow(void), cudnnGetVersion(void); int torch(void); "
	         "int torch(void) { return cudaMalloc() + cublasOfTomorrow() + cudnnGetVersion(); }' | "
	         "cc -shared -fPIC -o %s/lib/libtorch_cuda.so -x c - -x none made/%s made/%s made/libcudnn.so.9",
	         package, cudart, cublas);
	shell(command);
	/* NCCL has no version nodes. */
	snprintf(command, sizeof(command),
	         "echo 'int ncclSend(void); int ncclSend(void) { return 0; }' | cc -shared -fPIC -o made/libnccl.so.2 "
	         "-x c - "
	         "-Wl,-soname,libnccl.so.2 && echo 'int ncclSend(void); int python(void); int python(void) { return "
	         "ncclSend(); }' "
	         "| cc -shared -fPIC -o %s/lib/libtorch_python.so -x c - -x none made/libnccl.so.2 && rm -r made",
	         package);
	shell(command);
}

static int set_up(void **state)
{
	char search[PATH_ROOM];

	(void)state;
	assert_non_null(mkdtemp(root));
	shell("mkdir -p sim bin cpu/torch/lib site/torch-2.13.0.dist-info");
	make_library("sim", "libcuda.so.1", "cuInit", "ANY");
	make_library("sim", "libnvidia-ml.so.1", "nvmlInit_v2", "ANY");
	make_library("sim", "libcudart.so.13", "cudaMalloc", "libcudart.so.13");
	make_library("sim", "libcudart.so.12", "cudaMalloc", "libcudart.so.12");
	make_library("sim", "libcublas.so.13", "cublasCreate_v2", "libcublas.so.13");
	make_library("sim", "libcublas.so.12", "cublasCreate_v2", "libcublas.so.12");
	make_library("sim", "libcublasLt.so.13", "cublasLtCreate", "libcublasLt.so.13");
	make_library("sim", "libcublasLt.so.12", "cublasLtCreate", "libcublasLt.so.12");
	make_torch("site/torch", 13);
	make_torch("old/torch", 12);
	make_torch("older/torch", 11);
	write_file("site/torch-2.13.0.dist-info/METADATA",
	           "Name: torch\nRequires-Dist: nvidia-cudnn-frontend==1.2.3\nRequires-Dist: "
	           "nvidia-cudnn-cu13==9.20.1.48; x\n",
	           0644);
	snprintf(search, sizeof(search), "%s:/usr/bin:/bin", in_root("bin"));
	setenv("PATH", search, 1);
	setenv("XDG_CACHE_HOME", in_root("cache"), 1);
	use_python(in_root("site/torch"));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	shell("cd / && rm -r \"$OLDPWD\"");
	return 0;
}

static void torch_decides_the_version(void **state)
{
	(void)state;
	assert_int_equal(preload_python(), 0);
	assert_non_null(entry("libcuda.so.1"));
	assert_non_null(entry("libnvidia-ml.so.1"));
	assert_string_equal(entry("libcudart.so.13"), in_root("sim/libcudart.so.13"));
	assert_non_null(entry("libcublas.so.13"));
	assert_non_null(entry("libcublasLt.so.13"));
	assert_null(entry("libcudart.so.12"));

	use_python(in_root("old/torch"));
	assert_int_equal(preload_python(), 0);
	assert_non_null(entry("libcudart.so.12"));
	assert_null(entry("libcudart.so.13"));
	use_python(in_root("site/torch"));
}

/* What the versioned reference of a stub finds. */
static void *find_versioned(const char *library, const char *function, const char *node)
{
	void *handle, *address;

	assert_non_null(library);
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	address = node ? dlvsym(handle, function, node) : dlsym(handle, function);
	return address;
}

static void stubs_export_what_torch_imports(void **state)
{
	size_t (*version)(void);
	void *address;

	(void)state;
	assert_int_equal(preload_python(), 0);
	address = find_versioned(entry("libcudnn.so.9"), "cudnnGetVersion", "libcudnn.so.9");
	assert_non_null(address);
	memcpy(&version, &address, sizeof(version));
	assert_int_equal(version(), 92001);
	assert_non_null(find_versioned(entry("libnccl.so.2"), "ncclSend", NULL));
	/* Ours lacks it, so it comes from elsewhere, under the node that torch asks for. */
	assert_non_null(find_versioned(entry("libsynctally_extras.so"), "cublasOfTomorrow", "libcublas.so.13"));
	assert_null(find_versioned(entry("libsynctally_extras.so"), "cudaMalloc", "libcudart.so.13"));
}

static void a_simulated_library_replaces_its_stub(void **state)
{
	(void)state;
	make_library("sim", "libcudnn.so.9", "cudnnCreate", "libcudnn.so.9");
	assert_int_equal(preload_python(), 0);
	assert_string_equal(entry("libcudnn.so.9"), in_root("sim/libcudnn.so.9"));
	/* What it lacks is refused. */
	assert_non_null(find_versioned(entry("libsynctally_extras.so"), "cudnnGetVersion", "libcudnn.so.9"));
	use_python("");
	assert_int_equal(preload_python(), 0);
	assert_null(entry("libcudnn.so.9"));
	use_python(in_root("site/torch"));
	assert_int_equal(unlink(in_root("sim/libcudnn.so.9")), 0);
	assert_int_equal(preload_python(), 0);
	assert_string_not_equal(entry("libcudnn.so.9"), in_root("sim/libcudnn.so.9"));
}

static void commands_lead_to_their_python(void **state)
{
	char text[PATH_ROOM];

	(void)state;
	snprintf(text, sizeof(text), "#!%s -u\nprint()\n", in_root("bin/python3"));
	write_file("bin/torchrun", text, 0755);
	write_file("bin/direct", "#!/usr/bin/env python3\n", 0755);
	write_file("bin/split", "#!/usr/bin/env -S LANG=C python3 -u\n", 0755);
	snprintf(text, sizeof(text), "#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n", in_root("bin/python3"));
	write_file("bin/long", text, 0755);
	write_file("bin/job.sh", "#!/bin/sh\npython3 train.py\n", 0755);

	assert_int_equal(preload("torchrun", NULL, NULL, NULL), 0);
	assert_non_null(entry("libcudnn.so.9"));
	assert_int_equal(preload("direct", NULL, NULL, NULL), 0);
	assert_non_null(entry("libcudnn.so.9"));
	assert_int_equal(preload("split", NULL, NULL, NULL), 0);
	assert_non_null(entry("libcudnn.so.9"));
	assert_int_equal(preload(in_root("bin/long"), NULL, NULL, NULL), 0);
	assert_non_null(entry("libcudnn.so.9"));
	assert_int_equal(preload("job.sh", NULL, NULL, NULL), 0);
	assert_non_null(entry("libcudnn.so.9"));
	assert_int_equal(preload("/usr/bin/env", "A=1", "python3", "train.py"), 0);
	assert_non_null(entry("libcudnn.so.9"));
}

static void assert_options(const char *expected)
{
	char line[128] = "";
	FILE *file = fopen(in_root("options"), "r");

	assert_non_null(file);
	assert_true(fgets(line, sizeof(line), file) || !*expected);
	fclose(file);
	assert_string_equal(line, expected);
}

static void interpreter_options_are_passed_on(void **state)
{
	(void)state;
	assert_int_equal(preload("python3", "-s", "-uE", "x.py"), 0);
	assert_options("-sE ");
	assert_int_equal(preload("python3", "-X", "-I", "-P"), 0);
	assert_options("-P ");
	assert_int_equal(preload("python3", "-Wignore", "-m", "-I"), 0);
	assert_options("");
	assert_int_equal(preload("python3", "x.py", "-I", NULL), 0);
	assert_options("");
}

static void without_torch_there_are_no_stubs(void **state)
{
	(void)state;
	use_python("");
	assert_int_equal(preload_python(), 0);
	assert_null(entry("libcudnn.so.9"));
	assert_non_null(entry("libcudart.so.13"));
	use_python(in_root("cpu/torch"));
	assert_int_equal(preload_python(), 0);
	assert_null(entry("libcudnn.so.9"));
	use_python(in_root("site/torch"));
	assert_int_equal(preload("no-such-command", NULL, NULL, NULL), 0);
	assert_null(entry("libcudnn.so.9"));
}

static void a_program_that_needs_cudart_decides_alone(void **state)
{
	(void)state;
	shell("echo 'int cudaMalloc(void); int main(void) { return cudaMalloc(); }' | "
	      "cc -o program -x c - -x none sim/libcudart.so.12");
	assert_int_equal(preload(in_root("program"), NULL, NULL, NULL), 0);
	assert_non_null(entry("libcudart.so.12"));
	assert_null(entry("libcudnn.so.9"));
}

static void a_damaged_cache_is_made_again(void **state)
{
	char path[PATH_ROOM];
	struct stat before, after;

	(void)state;
	assert_int_equal(preload_python(), 0);
	snprintf(path, sizeof(path), "%s", entry("libcudnn.so.9"));
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(preload_python(), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(unlink(path), 0);
	write_file(path + strlen(root) + 1, "damaged", 0644);
	assert_int_equal(preload_python(), 0);
	assert_string_equal(entry("libcudnn.so.9"), path);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
}

/* Entries of the cache; leftovers of losers would show. */
static size_t count_cached(void)
{
	DIR *dir = opendir(in_root("cache/synctally"));
	const struct dirent *found;
	size_t n = 0;

	assert_non_null(dir);
	while ((found = readdir(dir)))
		n += found->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void any_number_may_fill_the_cache_at_once(void **state)
{
	enum { N_PROCESSES = 24 };
	int i, status;

	(void)state;
	setenv("XDG_CACHE_HOME", in_root("fresh"), 1);
	for (i = 0; i < N_PROCESSES; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			int result = preload_python();

			_exit(result == 0 && entry("libcudnn.so.9") && dlopen(entry("libcudnn.so.9"), RTLD_NOW) ? 0
			                                                                                        : 1);
		}
	}
	for (i = 0; i < N_PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	shell("mkdir -p cache && rm -r cache && mv fresh cache");
	assert_int_equal(count_cached(), 1);
	setenv("XDG_CACHE_HOME", in_root("cache"), 1);
}

static void an_unusable_cache_is_replaced_for_one_run(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	write_file("file", "", 0644);
	setenv("XDG_CACHE_HOME", in_root("file"), 1);
	setenv("TMPDIR", root, 1);
	pid = fork();
	if (pid == 0) {
		FILE *where = fopen(in_root("where"), "w");

		if (!where || !freopen(in_root("said"), "w", stderr) || preload_python() < 0 || !entry("libcudnn.so.9"))
			_exit(1);
		fputs(entry("libcudnn.so.9"), where);
		/* A second call says nothing and uses the same. */
		exit(preload_python() == 0 && access(entry("libcudnn.so.9"), R_OK) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	shell("test $(wc -l < said) = 1 && grep -q 'for this run only' said && grep -q ^$PWD/synctally-stubs- where && "
	      "! test -e $(cat where)");
	setenv("XDG_CACHE_HOME", in_root("cache"), 1);
	unsetenv("TMPDIR");
}

static void errors_are_one_clear_line(void **state)
{
	char *argv[] = { (char *)"x", NULL };
	char small[8];

	(void)state;
	assert_int_equal(sy_simlibs_preload(in_root("nowhere"), argv, out, sizeof(out), err, sizeof(err)), -1);
	assert_non_null(strstr(err, "no libcuda.so.1"));
	assert_int_equal(sy_simlibs_preload("build/lib/sim", argv, out, sizeof(out), err, sizeof(err)), -1);
	assert_non_null(strstr(err, "not absolute"));
	assert_int_equal(sy_simlibs_preload("/a b", argv, out, sizeof(out), err, sizeof(err)), -1);
	assert_int_equal(sy_simlibs_preload(in_root("sim"), argv, small, sizeof(small), err, sizeof(err)), -1);
	assert_non_null(strstr(err, "longer than"));
	use_python(in_root("older/torch"));
	assert_int_equal(preload_python(), -1);
	assert_non_null(strstr(err, "no libcudart.so.11"));
	use_python(in_root("site/torch"));
	write_file("cpu/torch/lib/libtorch_cuda.so", "not an object file", 0644);
	use_python(in_root("cpu/torch"));
	assert_int_equal(preload_python(), -1);
	assert_null(strchr(err, '\n'));
	unlink(in_root("cpu/torch/lib/libtorch_cuda.so"));
	use_python(in_root("site/torch"));
}

static void names_tell_libraries_apart(void **state)
{
	(void)state;
	assert_true(sy_vendor_is_nvidia("libcudnn.so.9"));
	assert_true(sy_vendor_is_nvidia("libcufoo.so.1"));
	assert_false(sy_vendor_is_nvidia("libcurl.so.4"));
	assert_false(sy_vendor_is_nvidia("libstdc++.so.6"));
	assert_true(sy_vendor_is_own("libcudart-0123abcd.so.12"));
	assert_false(sy_vendor_is_own("libcudart_static.a"));
	assert_false(sy_vendor_is_own("libcusparseLt.so.0"));
	assert_string_equal(sy_vendor_simulated(12, 1), "libcufft.so.11");
	assert_string_equal(sy_vendor_simulated(13, 1), "libcufft.so.12");
	assert_null(sy_vendor_simulated(11, 0));
	assert_true(sy_vendor_fit("libcufile.so.0", "cuFileRead") > sy_vendor_fit("libcuda.so.1", "cuFileRead"));
	assert_true(sy_vendor_fit("libcusparseLt.so.0", "cusparseLtInit") >
	            sy_vendor_fit("libcusparse.so.12", "cusparseLtInit"));
	assert_true(sy_vendor_fit("libnccl.so.2", "pncclSend") > 0);
	assert_true(sy_vendor_fit("libnvshmem_host.so.3", "nvshmem_init") > 0);
	assert_true(sy_vendor_fit("libcuda.so.1", "cuLaunchKernel") > 0);
	assert_int_equal(sy_vendor_fit("libcuda.so.1", "cudaMalloc"), 0);
	assert_int_equal(sy_vendor_fit("libcuda.so.1", "cutoff"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(torch_decides_the_version),
		cmocka_unit_test(stubs_export_what_torch_imports),
		cmocka_unit_test(a_simulated_library_replaces_its_stub),
		cmocka_unit_test(commands_lead_to_their_python),
		cmocka_unit_test(interpreter_options_are_passed_on),
		cmocka_unit_test(without_torch_there_are_no_stubs),
		cmocka_unit_test(a_program_that_needs_cudart_decides_alone),
		cmocka_unit_test(a_damaged_cache_is_made_again),
		cmocka_unit_test(any_number_may_fill_the_cache_at_once),
		cmocka_unit_test(an_unusable_cache_is_replaced_for_one_run),
		cmocka_unit_test(errors_are_one_clear_line),
		cmocka_unit_test(names_tell_libraries_apart),
	};

	return cmocka_run_group_tests_name("simlibs", tests, set_up, tear_down);
}
