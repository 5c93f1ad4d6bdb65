/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/blind.h"

#include "trace/maps.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#define CHUNK 64 /* symbols, relocations or names read at a time */
#define MAX_SEARCHED_BYTES (64u << 20)
#define CUDA_TEXT "libcuda.so"

/* The dynamic tables of one object, as addresses in the process. */
struct tables {
	uint64_t bias, symbols, strings, gnu_hash, jump_slots, relocations;
	uint64_t jump_slots_bytes, relocations_bytes, n_relative;
	uint32_t n_symbols; /* those up to here may be imports */
};

struct search {
	struct sy_blind_memory *memory;
	struct tables library; /* the preload library */
	uint64_t library_base;
};

static bool peek(const struct sy_blind_memory *memory, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv(memory->pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* Up to `bytes`; less where a page is missing. The rest is zeroed. */
static void peek_text(const struct sy_blind_memory *memory, uint64_t address, char *to, size_t bytes)
{
	size_t first = 4096 - address % 4096;

	memset(to, 0, bytes);
	first = first < bytes ? first : bytes;
	if (peek(memory, address, to, first) && first < bytes)
		(void)peek(memory, address + first, to + first, bytes - first);
	to[bytes - 1] = '\0';
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- objects -------------------------------------------------------------------- */

static const char *path_of(const struct sy_blind_memory *memory, const struct sy_blind_object *object)
{
	return memory->paths + object->path;
}

static uint64_t key_of(const struct sy_blind_memory *memory, const struct sy_blind_object *object)
{
	uint64_t hash = object->base ^ object->end << 20;

	for (const char *c = path_of(memory, object); *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
	return hash | 1;
}

/* The slot of the key, or the free one where it belongs; NULL: the table is full. */
static uint64_t *judged_slot(struct sy_blind_memory *memory, uint64_t key)
{
	const size_t n = sizeof(memory->judged) / sizeof(memory->judged[0]);

	for (size_t i = 0; i < n; i++) {
		uint64_t *slot = &memory->judged[(key + i) % n];

		if (*slot == key || *slot == 0)
			return slot;
	}
	return NULL;
}

static void judge(struct sy_blind_memory *memory, struct sy_blind_object *object)
{
	uint64_t key = key_of(memory, object), *slot = judged_slot(memory, key);

	object->is_judged = true;
	if (slot)
		*slot = key;
}

static void add_object(struct sy_blind_memory *memory, const struct sy_mapping *mapping)
{
	size_t bytes = strlen(mapping->path) + 1;
	struct sy_blind_object *object;

	if (memory->n_objects == SY_BLIND_OBJECTS || memory->n_paths + bytes > sizeof(memory->paths)) {
		memory->is_full = true;
		return;
	}
	object = &memory->objects[memory->n_objects++];
	*object = (struct sy_blind_object){ mapping->start, mapping->end, memory->n_paths, false };
	memcpy(memory->paths + memory->n_paths, mapping->path, bytes);
	memory->n_paths += (uint32_t)bytes;
}

/* Mappings of one object follow one another, perhaps with nameless ones in between. */
static bool read_objects(struct sy_blind_memory *memory)
{
	struct sy_blind_object *last = NULL;
	struct sy_mapping mapping;
	struct sy_maps maps;
	bool is_open;

	memory->n_objects = memory->n_paths = 0;
	memory->is_full = false;
	sy_maps_open(&maps, memory->pid);
	is_open = maps.fd >= 0;
	while (sy_maps_next(&maps, &mapping)) {
		unsigned char magic[SELFMAG];

		if (!*mapping.path)
			continue;
		/* Loaded once more, in another namespace: it begins with a header of its own. */
		if (last && strcmp(path_of(memory, last), mapping.path) == 0 &&
		    !(peek(memory, mapping.start, magic, sizeof(magic)) && memcmp(magic, ELFMAG, SELFMAG) == 0)) {
			last->end = mapping.end;
			continue;
		}
		add_object(memory, &mapping);
		last = memory->n_objects ? &memory->objects[memory->n_objects - 1] : NULL;
	}
	sy_maps_close(&maps);
	/* The key has the final end in it. */
	for (uint32_t i = 0; i < memory->n_objects; i++) {
		uint64_t *slot = judged_slot(memory, key_of(memory, &memory->objects[i]));

		memory->objects[i].is_judged = slot && *slot;
	}
	return is_open;
}

static const struct sy_blind_object *object_at(const struct sy_blind_memory *memory, uint64_t address)
{
	for (uint32_t i = 0; i < memory->n_objects; i++)
		if (address >= memory->objects[i].base && address < memory->objects[i].end)
			return &memory->objects[i];
	return NULL;
}

/* ---- tables --------------------------------------------------------------------- */

/* glibc relocates most table addresses in place, but not in every object. */
static uint64_t table_at(uint64_t bias, uint64_t address)
{
	return address >= bias ? address : address + bias;
}

static void note_entry(struct tables *tables, const ElfW(Dyn) *entry)
{
	uint64_t at = table_at(tables->bias, entry->d_un.d_ptr), value = entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_SYMTAB:
		tables->symbols = at;
		break;
	case DT_STRTAB:
		tables->strings = at;
		break;
	case DT_GNU_HASH:
		tables->gnu_hash = at;
		break;
	case DT_JMPREL:
		tables->jump_slots = at;
		break;
	case DT_PLTRELSZ:
		tables->jump_slots_bytes = value;
		break;
	case DT_RELA:
		tables->relocations = at;
		break;
	case DT_RELASZ:
		tables->relocations_bytes = value;
		break;
	case DT_RELACOUNT:
		tables->n_relative = value;
		break;
	default:
		break;
	}
}

/*
 * Imports stand before what the hash table covers. One that covers nothing says
 * 1, whatever there is; then the table of names, which follows the symbols, is the end.
 */
static bool count_symbols(const struct sy_blind_memory *memory, struct tables *tables)
{
	uint32_t hash[2] = { 0, 0 };

	if (tables->gnu_hash && !peek(memory, tables->gnu_hash, hash, sizeof(hash)))
		return false;
	tables->n_symbols = hash[1];
	if (tables->n_symbols <= 1 && tables->strings > tables->symbols)
		tables->n_symbols = (uint32_t)((tables->strings - tables->symbols) / sizeof(ElfW(Sym)));
	return true;
}

static bool read_tables(const struct sy_blind_memory *memory, uint64_t base, struct tables *tables)
{
	uint64_t dynamic = 0;
	bool has_load = false;
	ElfW(Ehdr) header;

	*tables = (struct tables){ 0 };
	if (!peek(memory, base, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	for (unsigned i = 0; i < header.e_phnum && i < CHUNK; i++) {
		ElfW(Phdr) segment;

		if (!peek(memory, base + header.e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_LOAD && !has_load) {
			tables->bias = base - (segment.p_vaddr & ~(uint64_t)4095);
			has_load = true;
		}
		if (segment.p_type == PT_DYNAMIC)
			dynamic = segment.p_vaddr;
	}
	if (!dynamic || !has_load)
		return false;
	for (unsigned i = 0; i < 4 * CHUNK; i++) {
		ElfW(Dyn) entry;

		if (!peek(memory, tables->bias + dynamic + i * sizeof(entry), &entry, sizeof(entry)))
			return false;
		if (entry.d_tag == DT_NULL)
			break;
		note_entry(tables, &entry);
	}
	return tables->symbols && tables->strings && count_symbols(memory, tables);
}

/* Whether the object exports the name, by its hash table. */
static bool exports(const struct sy_blind_memory *memory, const struct tables *tables, const char *name)
{
	uint32_t head[4], hash = 5381, i, chain;
	uint64_t buckets, chains;

	if (!tables->gnu_hash || !peek(memory, tables->gnu_hash, head, sizeof(head)) || !head[0])
		return false;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	buckets = tables->gnu_hash + sizeof(head) + 8ull * head[2];
	chains = buckets + 4ull * head[0];
	if (!peek(memory, buckets + 4ull * (hash % head[0]), &i, sizeof(i)) || i < head[1])
		return false;
	do {
		ElfW(Sym) symbol;
		char found[64];

		if (!peek(memory, chains + 4ull * (i - head[1]), &chain, sizeof(chain)) ||
		    !peek(memory, tables->symbols + sizeof(symbol) * (uint64_t)i, &symbol, sizeof(symbol)))
			return false;
		if ((chain | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF) {
			peek_text(memory, tables->strings + symbol.st_name, found, sizeof(found));
			if (strcmp(found, name) == 0)
				return true;
		}
		i++;
	} while (!(chain & 1));
	return false;
}

/* ---- imports and their slots ------------------------------------------------------ */

static bool may_be_ours(const char *beginning)
{
	return memcmp(beginning, "cu", 2) == 0 || memcmp(beginning, "dls", 3) == 0 || memcmp(beginning, "dlv", 3) == 0;
}

static void add_match(struct search *search, const struct tables *tables, uint32_t index, uint32_t name)
{
	struct sy_blind_memory *memory = search->memory;
	struct sy_blind_match *match = &memory->matches[memory->n_matches];

	if (memory->n_matches == SY_BLIND_MATCHES)
		return;
	peek_text(memory, tables->strings + name, match->name, sizeof(match->name));
	match->symbol = index;
	memory->n_matches += exports(memory, &search->library, match->name);
}

/* Names are first read as far as tells those of other libraries apart, many at a time. */
static void match_names(struct search *search, const struct tables *tables, const ElfW(Sym) *symbols, uint32_t first,
                        uint32_t n)
{
	struct iovec remote[CHUNK];
	char beginnings[CHUNK][4];
	struct iovec local = { beginnings, sizeof(beginnings) };
	uint32_t index[CHUNK], n_asked = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (symbols[i].st_shndx != SHN_UNDEF || !symbols[i].st_name)
			continue;
		index[n_asked] = i;
		remote[n_asked++] = (struct iovec){ (void *)(uintptr_t)(tables->strings + symbols[i].st_name),
			                            sizeof(beginnings[0]) };
	}
	local.iov_len = n_asked * sizeof(beginnings[0]);
	if (!n_asked || process_vm_readv(search->memory->pid, &local, 1, remote, n_asked, 0) != (ssize_t)local.iov_len)
		return;
	for (uint32_t i = 0; i < n_asked; i++)
		if (may_be_ours(beginnings[i]))
			add_match(search, tables, first + index[i], symbols[index[i]].st_name);
}

static void match_imports(struct search *search, const struct tables *tables)
{
	struct sy_blind_memory *memory = search->memory;
	ElfW(Sym) *symbols = (void *)memory->records;

	memory->n_matches = 0;
	for (uint32_t at = 0; at < tables->n_symbols; at += CHUNK) {
		uint32_t n = tables->n_symbols - at < CHUNK ? tables->n_symbols - at : CHUNK;

		if (!peek(memory, tables->symbols + sizeof(*symbols) * (uint64_t)at, symbols, n * sizeof(*symbols)))
			return;
		match_names(search, tables, symbols, at, n);
	}
}

static const struct sy_blind_match *match_of(const struct sy_blind_memory *memory, uint64_t info)
{
	for (uint32_t i = 0; i < memory->n_matches; i++)
		if (memory->matches[i].symbol == ELF64_R_SYM(info))
			return &memory->matches[i];
	return NULL;
}

/* Whether the object has the text in what is mapped of it: it then may look for the driver by name. */
static bool has_text(struct sy_blind_memory *memory, const struct sy_blind_object *object)
{
	const size_t overlap = sizeof(CUDA_TEXT);
	uint64_t bytes = object->end - object->base;
	unsigned char *window = memory->window;

	memset(window, 0, sizeof(memory->window));
	for (uint64_t at = 0; at < bytes && at < MAX_SEARCHED_BYTES; at += 4096) {
		memmove(window, window + 4096, overlap);
		if (peek(memory, object->base + at, window + overlap, 4096) &&
		    memmem(window, overlap + 4096, CUDA_TEXT, sizeof(CUDA_TEXT) - 1))
			return true;
	}
	return false;
}

enum binding { BOUND_TO_US, NOT_BOUND_YET, BOUND_PAST_US, BOUND_ELSEWHERE };

/* Another tool that stands before us is elsewhere: it hands the call on. */
static enum binding binding_of(const struct search *search, const struct sy_blind_object *object, uint64_t slot,
                               const char *function)
{
	const struct sy_blind_object *at;
	const char *name;
	uint64_t target;

	if (!peek(search->memory, slot, &target, sizeof(target)))
		return BOUND_ELSEWHERE;
	at = object_at(search->memory, target);
	if (!at || at == object)
		return target ? NOT_BOUND_YET : BOUND_ELSEWHERE;
	if (at->base == search->library_base)
		return BOUND_TO_US;
	name = base_name(path_of(search->memory, at));
	if (*function == 'd') /* dlsym, dlvsym */
		return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libdl.so", 8) == 0 ||
		                       strncmp(name, "libc-2", 6) == 0 || strncmp(name, "libdl-2", 7) == 0
		               ? BOUND_PAST_US
		               : BOUND_ELSEWHERE;
	return strncmp(name, "libcuda", 7) == 0 ? BOUND_PAST_US : BOUND_ELSEWHERE;
}

/* The name that goes past us in this table, or NULL; *is_final false if a slot is not filled yet. */
static const char *find_past(struct search *search, const struct sy_blind_object *object, uint64_t table,
                             uint64_t bytes, uint64_t bias, bool *is_final)
{
	struct sy_blind_memory *memory = search->memory;
	ElfW(Rela) *relocations = (void *)memory->records;

	for (uint64_t n = bytes / sizeof(*relocations), at = 0; at < n; at += 4 * CHUNK) {
		uint64_t m = n - at < 4 * CHUNK ? n - at : 4 * CHUNK;

		if (!peek(memory, table + at * sizeof(*relocations), relocations, m * sizeof(*relocations)))
			return NULL;
		for (uint64_t i = 0; i < m; i++) {
			const struct sy_blind_match *match =
				ELF64_R_SYM(relocations[i].r_info) ? match_of(memory, relocations[i].r_info) : NULL;
			enum binding binding =
				match ? binding_of(search, object, bias + relocations[i].r_offset, match->name)
				      : BOUND_TO_US;

			*is_final &= binding != NOT_BOUND_YET;
			if (binding == BOUND_PAST_US && (*match->name != 'd' || has_text(memory, object)))
				return match->name;
		}
	}
	return NULL;
}

static void examine(struct search *search, struct sy_blind_object *object, sy_blind_fn *fn, void *context)
{
	struct sy_blind_memory *memory = search->memory;
	const char *past = NULL;
	struct tables tables;
	bool is_final = true;

	if (read_tables(memory, object->base, &tables)) {
		uint64_t relative = tables.n_relative * sizeof(ElfW(Rela));

		match_imports(search, &tables);
		if (memory->n_matches)
			past = find_past(search, object, tables.jump_slots, tables.jump_slots_bytes, tables.bias,
			                 &is_final);
		if (memory->n_matches && !past && relative < tables.relocations_bytes)
			past = find_past(search, object, tables.relocations + relative,
			                 tables.relocations_bytes - relative, tables.bias, &is_final);
	}
	if (past)
		fn(context, path_of(memory, object), past);
	if (past || is_final)
		judge(memory, object);
}

/* CUDA's own libraries call each other as they like; the loader and libc are not asked. */
static bool is_cuda(const char *name)
{
	return strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libcudart.so", 12) == 0;
}

enum sy_blind_result sy_blind_find(struct sy_blind_memory *memory, pid_t pid, const char *library, sy_blind_fn *fn,
                                   void *context)
{
	struct search search = { .memory = memory };

	memory->pid = pid;
	if (!read_objects(memory) || memory->n_objects == 0)
		return SY_BLIND_NO_ACCESS;
	for (uint32_t i = 0; i < memory->n_objects && !search.library_base; i++) {
		uint64_t base = memory->objects[i].base;

		if (strcmp(base_name(path_of(memory, &memory->objects[i])), library) != 0)
			continue;
		if (!read_tables(memory, base, &search.library))
			return SY_BLIND_NO_ACCESS;
		search.library_base = base;
	}
	if (!search.library_base)
		return SY_BLIND_NO_LIBRARY;
	for (uint32_t i = 0; i < memory->n_objects; i++) {
		struct sy_blind_object *object = &memory->objects[i];

		if (!object->is_judged && object->base != search.library_base &&
		    !is_cuda(base_name(path_of(memory, object))))
			examine(&search, object, fn, context);
	}
	return memory->is_full ? SY_BLIND_PARTLY : SY_BLIND_DONE;
}
