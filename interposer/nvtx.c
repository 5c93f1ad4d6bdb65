/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - steps that end with an NVTX range of a given name
 *
 * SYNCTALLY_STEP=nvtx:NAME[@DOMAIN]. What the program gets back is what it gets
 * without a tool (no levels), except for handles, which mean nothing to it.
 * Nothing is kept of a name but whether it matches, so nothing is allocated.
 */
#include "interposer/compiler.h"
#include "interposer/config.h"
#include "interposer/dl.h"
#include "interposer/nvtx_abi.h"
#include "interposer/pattern.h"
#include "interposer/step.h"
#include "trace/format.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

int InitializeInjectionNvtx2(nvtx_abi_get_table_fn get_table);

/* What ends steps, told apart for the analysis. */
enum { BY_POP = 1, BY_END = 2, BY_MARK = 3 };

#define MAX_TEXT_BYTES 1024 /* of a wide text in UTF-8; what comes behind is not compared */
#define MAX_DOMAINS 64

struct domain {
	uint32_t is_used; /* atomic */
	bool is_wanted;
};

static struct domain domains[MAX_DOMAINS];
/* What programs with more domains get. Their ranges are paired as if the domains were one. */
static struct domain more_domains[2] = { { 1, false }, { 1, true } };
static const char string_handles[2]; /* of a registered text that does not match, and of one that does */
static uint64_t n_started;           /* atomic; identifiers of matching ranges from start to end */

/* The outermost matching range that this thread has pushed and not popped; ranges inside it only count. */
static SY_TLS const void *open_domain;
static SY_TLS uint32_t open_depth; /* 0: none */

/* ---- names --------------------------------------------------------------------------- */

/* NAME@DOMAIN: where the name ends. */
static size_t name_bytes(const char *pattern)
{
	const char *at = strrchr(pattern, '@');

	return at ? (size_t)(at - pattern) : strlen(pattern);
}

static bool is_wanted_text(const char *text)
{
	return text && sy_pattern_matches(sy_config.step_name, name_bytes(sy_config.step_name), text);
}

static bool is_wanted_domain_name(const char *name)
{
	const char *at = strrchr(sy_config.step_name, '@');

	return !at || (name && sy_pattern_matches(at + 1, strlen(at + 1), name));
}

/* Without a domain: the default one. */
static bool is_wanted_domain(const void *handle)
{
	return handle ? ((const struct domain *)handle)->is_wanted : is_wanted_domain_name("default");
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | (c >> 18 & 7));
			*to++ = (char)(0x80 | (c >> 12 & 63));
		}
		*to++ = (char)(0x80 | (c >> 6 & 63));
	}
	*to++ = (char)(0x80 | (c & 63));
	return to;
}

/* wcstombs() would ask the locale. */
static const char *narrow(const wchar_t *wide, char text[MAX_TEXT_BYTES])
{
	char *to = text;

	if (!wide)
		return NULL;
	while (*wide && to < text + MAX_TEXT_BYTES - 5)
		to = put_utf8(to, (uint32_t)*wide++);
	*to = '\0';
	return text;
}

static bool is_wanted_wide(const wchar_t *wide)
{
	char text[MAX_TEXT_BYTES];

	return is_wanted_text(narrow(wide, text));
}

static bool is_wanted(const void *domain, const struct nvtx_abi_attributes *attributes)
{
	if (!attributes || attributes->bytes < sizeof(*attributes) || !is_wanted_domain(domain))
		return false;
	switch (attributes->text_type) {
	case NVTX_ABI_TEXT_CHAR:
		return is_wanted_text(attributes->text);
	case NVTX_ABI_TEXT_WIDE:
		return is_wanted_wide(attributes->text);
	case NVTX_ABI_TEXT_REGISTERED:
		return attributes->text == &string_handles[true];
	default:
		return false;
	}
}

/* ---- marks, ranges of a thread, ranges of the process ---------------------------------- */

static void mark(bool matches)
{
	if (matches)
		sy_step_end(SY_STEP_NVTX, BY_MARK);
}

static int push(const void *domain, bool matches)
{
	if (open_depth) {
		open_depth += domain == open_domain;
	} else if (matches) {
		open_domain = domain;
		open_depth = 1;
	}
	return NVTX_ABI_NO_LEVELS;
}

static int pop(const void *domain)
{
	if (open_depth && domain == open_domain && --open_depth == 0)
		sy_step_end(SY_STEP_NVTX, BY_POP);
	return NVTX_ABI_NO_LEVELS;
}

static uint64_t start(bool matches)
{
	return matches ? __atomic_add_fetch(&n_started, 1, __ATOMIC_RELAXED) : 0;
}

static void end(uint64_t range)
{
	if (range)
		sy_step_end(SY_STEP_NVTX, BY_END);
}

/* ---- what the program calls ------------------------------------------------------------ */

static void mark_ex(const struct nvtx_abi_attributes *attributes)
{
	mark(is_wanted(NULL, attributes));
}

static void mark_a(const char *text)
{
	mark(is_wanted_domain(NULL) && is_wanted_text(text));
}

static void mark_w(const wchar_t *text)
{
	mark(is_wanted_domain(NULL) && is_wanted_wide(text));
}

static uint64_t start_ex(const struct nvtx_abi_attributes *attributes)
{
	return start(is_wanted(NULL, attributes));
}

static uint64_t start_a(const char *text)
{
	return start(is_wanted_domain(NULL) && is_wanted_text(text));
}

static uint64_t start_w(const wchar_t *text)
{
	return start(is_wanted_domain(NULL) && is_wanted_wide(text));
}

static int push_ex(const struct nvtx_abi_attributes *attributes)
{
	return push(NULL, is_wanted(NULL, attributes));
}

static int push_a(const char *text)
{
	return push(NULL, is_wanted_domain(NULL) && is_wanted_text(text));
}

static int push_w(const wchar_t *text)
{
	return push(NULL, is_wanted_domain(NULL) && is_wanted_wide(text));
}

static int pop_default(void)
{
	return pop(NULL);
}

static void domain_mark_ex(const void *domain, const struct nvtx_abi_attributes *attributes)
{
	mark(is_wanted(domain, attributes));
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_abi_attributes *attributes)
{
	return start(is_wanted(domain, attributes));
}

static void domain_end(const void *domain, uint64_t range)
{
	(void)domain;
	end(range);
}

static int domain_push_ex(const void *domain, const struct nvtx_abi_attributes *attributes)
{
	return push(domain, is_wanted(domain, attributes));
}

static const void *register_a(const void *domain, const char *text)
{
	(void)domain;
	return &string_handles[is_wanted_text(text)];
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	(void)domain;
	return &string_handles[is_wanted_wide(text)];
}

static void *create_a(const char *name)
{
	bool is_domain_wanted = is_wanted_domain_name(name);

	for (unsigned i = 0; i < MAX_DOMAINS; i++) {
		if (__atomic_exchange_n(&domains[i].is_used, 1, __ATOMIC_ACQ_REL))
			continue;
		domains[i].is_wanted = is_domain_wanted;
		return &domains[i];
	}
	return &more_domains[is_domain_wanted];
}

static void *create_w(const wchar_t *name)
{
	char text[MAX_TEXT_BYTES];

	return create_a(narrow(name, text));
}

static void destroy(struct domain *domain)
{
	if (domain >= domains && domain < domains + MAX_DOMAINS)
		__atomic_store_n(&domain->is_used, 0, __ATOMIC_RELEASE);
}

/* ---- the injection ----------------------------------------------------------------------- */

struct slot {
	enum nvtx_abi_module module;
	unsigned number;
	nvtx_abi_function function;
};

static const struct slot slots[] = {
	{ NVTX_ABI_CORE, NVTX_ABI_MARK_EX, (nvtx_abi_function)mark_ex },
	{ NVTX_ABI_CORE, NVTX_ABI_MARK_A, (nvtx_abi_function)mark_a },
	{ NVTX_ABI_CORE, NVTX_ABI_MARK_W, (nvtx_abi_function)mark_w },
	{ NVTX_ABI_CORE, NVTX_ABI_START_EX, (nvtx_abi_function)start_ex },
	{ NVTX_ABI_CORE, NVTX_ABI_START_A, (nvtx_abi_function)start_a },
	{ NVTX_ABI_CORE, NVTX_ABI_START_W, (nvtx_abi_function)start_w },
	{ NVTX_ABI_CORE, NVTX_ABI_END, (nvtx_abi_function)end },
	{ NVTX_ABI_CORE, NVTX_ABI_PUSH_EX, (nvtx_abi_function)push_ex },
	{ NVTX_ABI_CORE, NVTX_ABI_PUSH_A, (nvtx_abi_function)push_a },
	{ NVTX_ABI_CORE, NVTX_ABI_PUSH_W, (nvtx_abi_function)push_w },
	{ NVTX_ABI_CORE, NVTX_ABI_POP, (nvtx_abi_function)pop_default },
	{ NVTX_ABI_CORE2, NVTX_ABI_DOMAIN_MARK_EX, (nvtx_abi_function)domain_mark_ex },
	{ NVTX_ABI_CORE2, NVTX_ABI_DOMAIN_START_EX, (nvtx_abi_function)domain_start_ex },
	{ NVTX_ABI_CORE2, NVTX_ABI_DOMAIN_END, (nvtx_abi_function)domain_end },
	{ NVTX_ABI_CORE2, NVTX_ABI_DOMAIN_PUSH_EX, (nvtx_abi_function)domain_push_ex },
	{ NVTX_ABI_CORE2, NVTX_ABI_DOMAIN_POP, (nvtx_abi_function)pop },
	{ NVTX_ABI_CORE2, NVTX_ABI_REGISTER_A, (nvtx_abi_function)register_a },
	{ NVTX_ABI_CORE2, NVTX_ABI_REGISTER_W, (nvtx_abi_function)register_w },
	{ NVTX_ABI_CORE2, NVTX_ABI_CREATE_A, (nvtx_abi_function)create_a },
	{ NVTX_ABI_CORE2, NVTX_ABI_CREATE_W, (nvtx_abi_function)create_w },
	{ NVTX_ABI_CORE2, NVTX_ABI_DESTROY, (nvtx_abi_function)destroy },
};

/* A child without the preload library may have inherited the path: its CUDA calls are not seen, so its steps are nobody's. */
static bool is_preloaded(void)
{
	void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	bool is_ours =
		program && sy_libc_dlsym &&
		sy_libc_dlsym(program, "InitializeInjectionNvtx2") == (void *)(uintptr_t)InitializeInjectionNvtx2;

	if (program)
		dlclose(program);
	return is_ours;
}

static void fill_slot(const struct nvtx_abi_callbacks *callbacks, const struct slot *slot)
{
	nvtx_abi_function **places = NULL;
	unsigned n = 0;

	if (callbacks->module_functions((int)slot->module, &places, &n) && places && slot->number < n &&
	    places[slot->number])
		*places[slot->number] = slot->function;
}

/*
 * Called by each library that has NVTX in it, at its first use. The answer is
 * always yes: upon a no the caller would unload us.
 */
SY_EXPORT int InitializeInjectionNvtx2(nvtx_abi_get_table_fn get_table)
{
	const struct nvtx_abi_callbacks *callbacks = get_table(NVTX_ABI_CALLBACKS);

	if (!callbacks || callbacks->bytes < sizeof(*callbacks) || sy_config.steps != SY_STEPS_NVTX || !is_preloaded())
		return 1;
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		fill_slot(callbacks, &slots[i]);
	return 1;
}
