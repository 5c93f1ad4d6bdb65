/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub_cache.c - make the vendor stubs of a PyTorch once and keep them
 *
 * Each directory has a list of its files with their sizes, written last. A
 * directory that does not match its list is set aside and made again.
 */
#include "analysis/stub_cache.h"

#include "analysis/complain.h"
#include "analysis/elf_read.h"
#include "analysis/vendor_names.h"
#include "analysis/vendor_stubs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_NAME "list"

/* A directory being filled. */
struct filling {
	char path[PATH_MAX];
	FILE *list;
	char *err;
	size_t err_bytes;
};

/* Set where the cache could not be used: removed by its maker's exit. */
static struct {
	char path[PATH_MAX];
	pid_t owner;
} private_dir;

/* LD_PRELOAD separates paths by these and knows no quoting. */
static bool can_preload_from(const char *path)
{
	return path[0] == '/' && !strpbrk(path, ": \t\n");
}

static void join(char *out, const char *dir, const char *name)
{
	/* Too long for the system: every use of it fails with ENAMETOOLONG or finds nothing. */
	if (snprintf(out, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		out[0] = '\0';
}

static void remove_dir(const char *path)
{
	const struct dirent *entry;
	char file[PATH_MAX];
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		join(file, path, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(file);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static void remove_private_dir(void)
{
	if (private_dir.owner == getpid())
		remove_dir(private_dir.path);
}

static bool make_dirs(const char *path)
{
	char partial[PATH_MAX];
	char *slash = partial;

	if (snprintf(partial, sizeof(partial), "%s/", path) >= (int)sizeof(partial))
		return false;
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		/* 0700: what the XDG base directory specification asks of directories made on the way. */
		if (mkdir(partial, 0700) < 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return true;
}

/* The directory all stub directories are in. False if the environment names none that can be used. */
static bool cache_base(char *base)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char parent[PATH_MAX];

	/* The specification says to ignore a relative one. */
	if (xdg && xdg[0] == '/') {
		join(base, xdg, "synctally");
	} else if (home && home[0] == '/') {
		join(parent, home, ".cache");
		join(base, parent, "synctally");
	} else {
		return false;
	}
	return can_preload_from(base) && make_dirs(base);
}

/* FNV-1a */
static uint64_t mix(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * What the stubs depend on: the PyTorch build, this program, what our libraries
 * export, and the installation, since its metadata names the versions to claim.
 */
static void cache_key(const struct sy_torch *torch, const char *sim_dir, char *key, size_t key_bytes)
{
	static const char *const own[] = { "libcuda", "libcudart", "libcublas", "libcublasLt" };
	char torch_identity[80] = "unknown", identity[80], name[32], path[PATH_MAX];
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), torch->package);
	const char *simulated;
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		snprintf(name, sizeof(name), "%s.so.%d", own[i], i == 0 ? 1 : torch->cuda_major);
		join(path, sim_dir, name);
		if (sy_elf_identity(path, identity, sizeof(identity)) == 0)
			hash = mix(hash, identity);
	}
	for (i = 0; (simulated = sy_vendor_simulated(torch->cuda_major, i)); i++) {
		join(path, sim_dir, simulated);
		if (sy_elf_identity(path, identity, sizeof(identity)) == 0)
			hash = mix(hash, identity);
	}
	if (sy_elf_identity("/proc/self/exe", identity, sizeof(identity)) == 0)
		hash = mix(hash, identity);
	sy_elf_identity(torch->library, torch_identity, sizeof(torch_identity));
	snprintf(key, key_bytes, "stubs-%s-%s-%016" PRIx64, SY_VERSION, torch_identity, hash);
}

static int write_stub(const char *soname, const void *bytes, size_t n_bytes, void *context)
{
	struct filling *filling = context;
	char path[PATH_MAX];
	FILE *file;
	bool is_written;

	join(path, filling->path, soname);
	file = fopen(path, "we");
	if (!file)
		return sy_complain(filling->err, filling->err_bytes, "cannot write %s: %s", path, strerror(errno));
	is_written = fwrite(bytes, 1, n_bytes, file) == n_bytes;
	if (fclose(file) != 0 || !is_written)
		return sy_complain(filling->err, filling->err_bytes, "cannot write %s: %s", path, strerror(errno));
	fprintf(filling->list, "%zu %s\n", n_bytes, soname);
	return 0;
}

/* Fills an empty directory. */
static int fill_dir(const struct sy_torch *torch, const char *sim_dir, const char *dir, char *err, size_t err_bytes)
{
	struct filling filling = { .err = err, .err_bytes = err_bytes };
	char path[PATH_MAX];
	bool has_failed;
	int result;

	snprintf(filling.path, sizeof(filling.path), "%s", dir);
	join(path, dir, LIST_NAME);
	filling.list = fopen(path, "we");
	if (!filling.list)
		return sy_complain(err, err_bytes, "cannot write %s: %s", path, strerror(errno));
	result = sy_vendor_stubs(torch, sim_dir, write_stub, &filling, err, err_bytes);
	has_failed = ferror(filling.list) != 0;
	if ((fclose(filling.list) != 0 || has_failed) && result == 0)
		result = sy_complain(err, err_bytes, "cannot write %s: %s", path, strerror(errno));
	return result;
}

/* Calls `fn`, if given, for each file on the list. -1 if the directory does not match its list. */
static int walk_dir(const char *dir, sy_stub_path_fn fn, void *context)
{
	char path[PATH_MAX], name[128];
	struct stat status;
	size_t n_bytes;
	int result = 0;
	FILE *list;

	join(path, dir, LIST_NAME);
	list = fopen(path, "re");
	if (!list)
		return -1;
	while (result == 0 && fscanf(list, "%zu %127s", &n_bytes, name) == 2) {
		join(path, dir, name);
		if (strchr(name, '/') || stat(path, &status) < 0 || (size_t)status.st_size != n_bytes)
			result = -1;
		else if (fn)
			result = fn(path, context);
	}
	fclose(list);
	return result;
}

/*
 * Makes `dir`, in `base`, if it is not there. -1: the cache is of no use, `err`
 * says why. Whatever happens, and whoever does the same at once, a directory
 * that was complete is only ever replaced by a complete one, in one step.
 */
static int make_cached(const struct sy_torch *torch, const char *sim_dir, const char *base, const char *dir, char *err,
                       size_t err_bytes)
{
	char fresh[PATH_MAX];
	int result = 0;

	if (walk_dir(dir, NULL, NULL) == 0)
		return 0;
	join(fresh, base, "new-XXXXXX");
	if (!mkdtemp(fresh))
		return sy_complain(err, err_bytes, "cannot write to %s: %s", base, strerror(errno));
	result = fill_dir(torch, sim_dir, fresh, err, err_bytes);
	if (result == 0 && rename(fresh, dir) == 0)
		return 0;
	/* Something is there: made by another process meanwhile, or damaged. */
	if (result == 0 && walk_dir(dir, NULL, NULL) < 0 &&
	    renameat2(AT_FDCWD, fresh, AT_FDCWD, dir, RENAME_EXCHANGE) < 0)
		result = sy_complain(err, err_bytes, "cannot replace the damaged %s: %s", dir, strerror(errno));
	remove_dir(fresh);
	return result;
}

static int make_private(const struct sy_torch *torch, const char *sim_dir, const char *why, char *err, size_t err_bytes)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || !can_preload_from(tmp))
		tmp = "/tmp";
	join(private_dir.path, tmp, "synctally-stubs-XXXXXX");
	if (!mkdtemp(private_dir.path))
		return sy_complain(err, err_bytes, "cannot write to %s: %s", tmp, strerror(errno));
	private_dir.owner = getpid();
	atexit(remove_private_dir);
	if (fill_dir(torch, sim_dir, private_dir.path, err, err_bytes) < 0)
		return -1;
	fprintf(stderr, "synctally: vendor stubs are in %s, for this run only: %s\n", private_dir.path, why);
	return 0;
}

int sy_stub_cache(const struct sy_torch *torch, const char *sim_dir, sy_stub_path_fn fn, void *context, char *err,
                  size_t err_bytes)
{
	char base[PATH_MAX], dir[PATH_MAX], key[256], why[PATH_MAX + 128];

	if (private_dir.owner == getpid())
		return walk_dir(private_dir.path, fn, context);
	snprintf(why, sizeof(why), "no usable XDG_CACHE_HOME or HOME");
	if (cache_base(base)) {
		cache_key(torch, sim_dir, key, sizeof(key));
		join(dir, base, key);
		if (make_cached(torch, sim_dir, base, dir, why, sizeof(why)) == 0)
			return walk_dir(dir, fn, context);
	}
	if (make_private(torch, sim_dir, why, err, err_bytes) < 0)
		return -1;
	return walk_dir(private_dir.path, fn, context);
}
