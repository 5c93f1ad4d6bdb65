/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_write.c - lay out a small x86-64 shared library, without a linker
 *
 * Addresses equal file offsets. Three loaded pieces, each on its own page:
 * tables and constants (read), code (read and execute), the dynamic section
 * with the import slot (read-only after relocation) followed by zeroed data.
 * The formats are those of the System V gABI and the GNU symbol versioning
 * extension (LSB, "Symbol Versioning").
 */
#include "analysis/elf_write.h"

#include <elf.h>
#include <string.h>

#define PAGE ((uint64_t)4096)

enum {
	S_NULL,
	S_HASH,
	S_DYNSYM,
	S_DYNSTR,
	S_VERSYM,
	S_VERDEF,
	S_RELA,
	S_RODATA,
	S_TEXT,
	S_DYNAMIC,
	S_SLOT,
	S_DATA,
	S_NAMES,
	N_SECTIONS
};

enum { P_TABLES, P_CODE, P_DATA, P_DYNAMIC, P_RELRO, P_STACK, N_SEGMENTS };

/* DT_SONAME to DT_NULL: see fill_dynamic(). */
#define N_DYNAMIC 13

static const struct {
	const char *name;
	Elf64_Shdr header;
} layout[N_SECTIONS] = {
	[S_NULL] = { "", { .sh_type = SHT_NULL } },
	[S_HASH] = { ".hash",
	             { .sh_type = SHT_HASH,
	               .sh_flags = SHF_ALLOC,
	               .sh_link = S_DYNSYM,
	               .sh_entsize = 4,
	               .sh_addralign = 8 } },
	[S_DYNSYM] = { ".dynsym",
	               { .sh_type = SHT_DYNSYM,
	                 .sh_flags = SHF_ALLOC,
	                 .sh_link = S_DYNSTR,
	                 .sh_info = 1,
	                 .sh_entsize = sizeof(Elf64_Sym),
	                 .sh_addralign = 8 } },
	[S_DYNSTR] = { ".dynstr", { .sh_type = SHT_STRTAB, .sh_flags = SHF_ALLOC, .sh_addralign = 1 } },
	[S_VERSYM] = { ".gnu.version",
	               { .sh_type = SHT_GNU_versym,
	                 .sh_flags = SHF_ALLOC,
	                 .sh_link = S_DYNSYM,
	                 .sh_entsize = sizeof(Elf64_Versym),
	                 .sh_addralign = 2 } },
	[S_VERDEF] = { ".gnu.version_d",
	               { .sh_type = SHT_GNU_verdef, .sh_flags = SHF_ALLOC, .sh_link = S_DYNSTR, .sh_addralign = 8 } },
	[S_RELA] = { ".rela.dyn",
	             { .sh_type = SHT_RELA,
	               .sh_flags = SHF_ALLOC,
	               .sh_link = S_DYNSYM,
	               .sh_entsize = sizeof(Elf64_Rela),
	               .sh_addralign = 8 } },
	[S_RODATA] = { ".rodata", { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 16 } },
	[S_TEXT] = { ".text",
	             { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addralign = PAGE } },
	[S_DYNAMIC] = { ".dynamic",
	                { .sh_type = SHT_DYNAMIC,
	                  .sh_flags = SHF_ALLOC | SHF_WRITE,
	                  .sh_link = S_DYNSTR,
	                  .sh_entsize = sizeof(Elf64_Dyn),
	                  .sh_addralign = PAGE } },
	[S_SLOT] = { ".got",
	             { .sh_type = SHT_PROGBITS,
	               .sh_flags = SHF_ALLOC | SHF_WRITE,
	               .sh_entsize = 8,
	               .sh_addralign = 8 } },
	[S_DATA] = { ".bss", { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addralign = PAGE } },
	[S_NAMES] = { ".shstrtab", { .sh_type = SHT_STRTAB, .sh_addralign = 1 } },
};

/* The library being laid out: contents and header of every section. */
struct draft {
	const struct sy_elf_library *library;
	struct sy_bytes contents[N_SECTIONS];
	Elf64_Shdr header[N_SECTIONS];
	const char *versions[SY_ELF_MAX_VERSIONS];
	size_t n_versions;
	size_t soname; /* in .dynstr */
};

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

/* The hash function of DT_HASH and of version names, from the gABI. */
static uint32_t elf_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash ^= (hash >> 24) & 0xf0;
	}
	return hash & 0x0fffffff;
}

/* The index of a version node in DT_VERSYM; 1 is "no version", 2 the first node. 0: too many nodes. */
static Elf64_Versym version_index(struct draft *draft, const char *version)
{
	size_t i;

	if (!version)
		return VER_NDX_GLOBAL;
	for (i = 0; i < draft->n_versions; i++) {
		if (strcmp(draft->versions[i], version) == 0)
			return (Elf64_Versym)(i + 2);
	}
	if (i == SY_ELF_MAX_VERSIONS)
		return 0;
	draft->versions[draft->n_versions++] = version;
	return (Elf64_Versym)(i + 2);
}

static void add_symbol(struct draft *draft, const char *name, Elf64_Sym symbol, Elf64_Versym version)
{
	symbol.st_name = (Elf64_Word)sy_bytes_put_text(&draft->contents[S_DYNSTR], name);
	sy_bytes_put(&draft->contents[S_DYNSYM], &symbol, sizeof(symbol));
	sy_bytes_put(&draft->contents[S_VERSYM], &version, sizeof(version));
}

/* Symbol values are offsets into their section until resolve_symbols(). */
static int make_symbols(struct draft *draft)
{
	const struct sy_elf_library *library = draft->library;
	Elf64_Versym none = VER_NDX_LOCAL, version;
	Elf64_Sym symbol = { .st_info = ELF64_ST_INFO(STB_WEAK, STT_NOTYPE) };
	size_t i;

	sy_bytes_put(&draft->contents[S_DYNSTR], NULL, 1);
	sy_bytes_put(&draft->contents[S_DYNSYM], NULL, sizeof(symbol));
	sy_bytes_put(&draft->contents[S_VERSYM], &none, sizeof(none));
	draft->soname = sy_bytes_put_text(&draft->contents[S_DYNSTR], library->soname);
	add_symbol(draft, library->import, symbol, VER_NDX_GLOBAL);
	for (i = 0; i < library->n_symbols; i++) {
		const struct sy_elf_symbol *from = &library->symbols[i];

		version = version_index(draft, from->version);
		if (!version)
			return -1;
		symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, from->is_object ? STT_OBJECT : STT_FUNC);
		symbol.st_shndx = from->is_object ? S_DATA : S_TEXT;
		symbol.st_value = from->value;
		symbol.st_size = from->size;
		add_symbol(draft, from->name, symbol, version);
	}
	return 0;
}

/* One Verdef with one Verdaux: the base (the file itself) or a version node. */
static void add_version(struct draft *draft, const char *name, size_t name_at, size_t index, bool is_last)
{
	Elf64_Verdef def = {
		.vd_version = VER_DEF_CURRENT,
		.vd_flags = index == 1 ? VER_FLG_BASE : 0,
		.vd_ndx = (Elf64_Half)index,
		.vd_cnt = 1,
		.vd_hash = elf_hash(name),
		.vd_aux = sizeof(def),
		.vd_next = is_last ? 0 : sizeof(def) + sizeof(Elf64_Verdaux),
	};
	Elf64_Verdaux aux = { .vda_name = (Elf64_Word)name_at };

	sy_bytes_put(&draft->contents[S_VERDEF], &def, sizeof(def));
	sy_bytes_put(&draft->contents[S_VERDEF], &aux, sizeof(aux));
}

static void make_versions(struct draft *draft)
{
	size_t i;

	add_version(draft, draft->library->soname, draft->soname, 1, draft->n_versions == 0);
	for (i = 0; i < draft->n_versions; i++) {
		size_t at = sy_bytes_put_text(&draft->contents[S_DYNSTR], draft->versions[i]);

		add_version(draft, draft->versions[i], at, i + 2, i + 1 == draft->n_versions);
	}
	draft->header[S_VERDEF].sh_info = (Elf64_Word)(draft->n_versions + 1);
}

/* nbucket, nchain, buckets, chains; a chain is threaded through the symbol numbers. */
static void make_hash(struct draft *draft)
{
	const struct sy_elf_library *library = draft->library;
	uint32_t n_chains = (uint32_t)library->n_symbols + 2, n_buckets = n_chains / 2 + 1;
	struct sy_bytes *hash = &draft->contents[S_HASH];
	uint32_t *buckets, *chains, i;

	sy_bytes_put(hash, &n_buckets, sizeof(n_buckets));
	sy_bytes_put(hash, &n_chains, sizeof(n_chains));
	sy_bytes_put(hash, NULL, (size_t)(n_buckets + n_chains) * sizeof(uint32_t));
	if (hash->has_failed)
		return;
	buckets = (uint32_t *)(void *)hash->data + 2;
	chains = buckets + n_buckets;
	for (i = 1; i < n_chains; i++) {
		const char *name = i == 1 ? library->import : library->symbols[i - 2].name;
		uint32_t *bucket = &buckets[elf_hash(name) % n_buckets];

		chains[i] = *bucket;
		*bucket = i;
	}
}

static void make_section_names(struct draft *draft)
{
	size_t i;

	for (i = 0; i < N_SECTIONS; i++)
		draft->header[i].sh_name = (Elf64_Word)sy_bytes_put_text(&draft->contents[S_NAMES], layout[i].name);
}

/* Gives every section its offset and address, and returns where the section headers go. */
static uint64_t place_sections(struct draft *draft)
{
	uint64_t at = sizeof(Elf64_Ehdr) + N_SEGMENTS * sizeof(Elf64_Phdr);
	size_t i;

	for (i = S_HASH; i < N_SECTIONS; i++) {
		Elf64_Shdr *header = &draft->header[i];
		uint64_t aligned = align_up(at, header->sh_addralign);

		header->sh_offset = i == S_DATA ? at : aligned;
		header->sh_addr = i == S_NAMES ? 0 : aligned;
		header->sh_size = i == S_DATA ? draft->library->data_bytes : draft->contents[i].used;
		if (i != S_DATA)
			at = aligned + header->sh_size;
	}
	return align_up(at, 8);
}

static void resolve_symbols(struct draft *draft)
{
	Elf64_Sym *symbols = (Elf64_Sym *)(void *)draft->contents[S_DYNSYM].data;
	size_t i;

	for (i = 2; i < draft->library->n_symbols + 2; i++)
		symbols[i].st_value += draft->header[symbols[i].st_shndx].sh_addr;
}

static void resolve_fixups(struct draft *draft)
{
	static const int section[] = {
		[SY_ELF_TEXT] = S_TEXT, [SY_ELF_RODATA] = S_RODATA, [SY_ELF_IMPORT_SLOT] = S_SLOT
	};
	const struct sy_elf_library *library = draft->library;
	size_t i;

	for (i = 0; i < library->n_fixups; i++) {
		const struct sy_elf_fixup *fixup = &library->fixups[i];
		uint64_t target = draft->header[section[fixup->target]].sh_addr + fixup->offset;
		uint64_t next = draft->header[S_TEXT].sh_addr + fixup->at + 4;
		int32_t distance = (int32_t)((int64_t)target - (int64_t)next);

		memcpy(draft->contents[S_TEXT].data + fixup->at, &distance, sizeof(distance));
	}
}

static void fill_dynamic(struct draft *draft)
{
	const Elf64_Shdr *header = draft->header;
	const Elf64_Dyn entries[N_DYNAMIC] = {
		{ DT_SONAME, { draft->soname } },
		{ DT_HASH, { header[S_HASH].sh_addr } },
		{ DT_STRTAB, { header[S_DYNSTR].sh_addr } },
		{ DT_STRSZ, { header[S_DYNSTR].sh_size } },
		{ DT_SYMTAB, { header[S_DYNSYM].sh_addr } },
		{ DT_SYMENT, { sizeof(Elf64_Sym) } },
		{ DT_RELA, { header[S_RELA].sh_addr } },
		{ DT_RELASZ, { header[S_RELA].sh_size } },
		{ DT_RELAENT, { sizeof(Elf64_Rela) } },
		{ DT_VERSYM, { header[S_VERSYM].sh_addr } },
		{ DT_VERDEF, { header[S_VERDEF].sh_addr } },
		{ DT_VERDEFNUM, { header[S_VERDEF].sh_info } },
		{ DT_NULL, { 0 } },
	};
	const Elf64_Rela import = { header[S_SLOT].sh_addr, ELF64_R_INFO(1, R_X86_64_GLOB_DAT), 0 };

	memcpy(draft->contents[S_DYNAMIC].data, entries, sizeof(entries));
	memcpy(draft->contents[S_RELA].data, &import, sizeof(import));
}

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t from, uint64_t file_end, uint64_t end)
{
	Elf64_Phdr phdr = {
		.p_type = type,
		.p_flags = flags,
		.p_offset = from,
		.p_vaddr = from,
		.p_paddr = from,
		.p_filesz = file_end - from,
		.p_memsz = end - from,
		.p_align = type == PT_LOAD ? PAGE : 8,
	};

	return phdr;
}

static void put_headers(const struct draft *draft, uint64_t sections_at, struct sy_bytes *image)
{
	const Elf64_Shdr *header = draft->header;
	uint64_t tables_end = header[S_RODATA].sh_addr + header[S_RODATA].sh_size;
	uint64_t code = header[S_TEXT].sh_addr, code_end = code + header[S_TEXT].sh_size;
	uint64_t data = header[S_DYNAMIC].sh_addr, slot_end = header[S_SLOT].sh_addr + header[S_SLOT].sh_size;
	uint64_t data_end = header[S_DATA].sh_addr + header[S_DATA].sh_size;
	Elf64_Ehdr elf = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(elf),
		.e_shoff = sections_at,
		.e_ehsize = sizeof(elf),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = N_SEGMENTS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = N_SECTIONS,
		.e_shstrndx = S_NAMES,
	};
	const Elf64_Phdr segments[N_SEGMENTS] = {
		[P_TABLES] = segment(PT_LOAD, PF_R, 0, tables_end, tables_end),
		[P_CODE] = segment(PT_LOAD, PF_R | PF_X, code, code_end, code_end),
		[P_DATA] = segment(PT_LOAD, PF_R | PF_W, data, slot_end, data_end),
		[P_DYNAMIC] = segment(PT_DYNAMIC, PF_R | PF_W, data, header[S_SLOT].sh_addr, header[S_SLOT].sh_addr),
		/* Data begins on the next page, so the whole page of the slot can be protected. */
		[P_RELRO] = segment(PT_GNU_RELRO, PF_R, data, slot_end, header[S_DATA].sh_addr),
		[P_STACK] = { .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16 },
	};

	sy_bytes_put(image, &elf, sizeof(elf));
	sy_bytes_put(image, segments, sizeof(segments));
}

static void put_sections(const struct draft *draft, struct sy_bytes *image)
{
	size_t i;

	for (i = S_HASH; i < N_SECTIONS; i++) {
		if (i == S_DATA)
			continue;
		sy_bytes_align(image, draft->header[i].sh_addralign);
		sy_bytes_put(image, draft->contents[i].data, draft->contents[i].used);
	}
	sy_bytes_align(image, 8);
	sy_bytes_put(image, draft->header, sizeof(draft->header));
}

/* Everything whose size decides the layout. Returns -1 if a piece is missing. */
static int make_contents(struct draft *draft)
{
	const struct sy_elf_library *library = draft->library;
	size_t i;

	for (i = 0; i < N_SECTIONS; i++)
		draft->header[i] = layout[i].header;
	if (make_symbols(draft) < 0)
		return -1;
	make_versions(draft);
	make_hash(draft);
	make_section_names(draft);
	sy_bytes_put(&draft->contents[S_RODATA], library->rodata->data, library->rodata->used);
	sy_bytes_put(&draft->contents[S_TEXT], library->text->data, library->text->used);
	sy_bytes_put(&draft->contents[S_RELA], NULL, sizeof(Elf64_Rela));
	sy_bytes_put(&draft->contents[S_DYNAMIC], NULL, N_DYNAMIC * sizeof(Elf64_Dyn));
	sy_bytes_put(&draft->contents[S_SLOT], NULL, sizeof(uint64_t));
	for (i = 0; i < N_SECTIONS; i++) {
		if (draft->contents[i].has_failed)
			return -1;
	}
	return 0;
}

int sy_elf_write(const struct sy_elf_library *library, struct sy_bytes *image)
{
	struct draft draft = { .library = library };
	int result = make_contents(&draft);
	size_t i;

	if (result == 0) {
		uint64_t sections_at = place_sections(&draft);

		resolve_symbols(&draft);
		resolve_fixups(&draft);
		fill_dynamic(&draft);
		put_headers(&draft, sections_at, image);
		put_sections(&draft, image);
		result = image->has_failed ? -1 : 0;
	}
	for (i = 0; i < N_SECTIONS; i++)
		sy_bytes_free(&draft.contents[i]);
	return result;
}
