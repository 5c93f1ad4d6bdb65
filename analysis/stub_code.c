/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub_code.c - machine code of functions that refuse, or give a fixed answer
 *
 * Each template is one short run of instructions; its assembly stands beside
 * it. Fields that depend on the final layout are left zero and put on the
 * list of fixups.
 */
#include "analysis/stub_code.h"

#include <stdlib.h>
#include <string.h>

/* What a caller sees of a library that is not there, when it asks for the meaning of an error. */
#define ERROR_TEXT "not available on the simulated device"

struct assembly {
	struct sy_bytes text, rodata;
	struct sy_elf_symbol *symbols;
	size_t n_symbols;
	struct sy_elf_fixup *fixups;
	size_t n_fixups;
	size_t refuse_at;     /* code shared by all refusals */
	size_t error_text_at; /* in rodata */
	uint64_t data_bytes;
};

/* A template needs at most this many fixups. */
#define MAX_FIXUPS_PER_STUB 2

static void code(struct assembly *as, const char *bytes, size_t n)
{
	sy_bytes_put(&as->text, bytes, n);
}
#define CODE(as, bytes) code(as, bytes, sizeof(bytes) - 1)

static void immediate(struct assembly *as, int32_t value)
{
	sy_bytes_put(&as->text, &value, sizeof(value));
}

static void relative(struct assembly *as, enum sy_elf_target target, size_t offset)
{
	struct sy_elf_fixup fixup = { as->text.used, target, offset };

	as->fixups[as->n_fixups++] = fixup;
	immediate(as, 0);
}

/* In: rsi = function name, rax = what to return. Keeps the stack aligned for the call. */
static void emit_shared_refusal(struct assembly *as, size_t library_at)
{
	as->refuse_at = as->text.used;
	CODE(as, "\x50");         /* push rax */
	CODE(as, "\x48\x8d\x3d"); /* lea rdi, [library] */
	relative(as, SY_ELF_RODATA, library_at);
	CODE(as, "\x48\x8b\x05"); /* mov rax, [import slot] */
	relative(as, SY_ELF_IMPORT_SLOT, 0);
	CODE(as, "\x48\x85\xc0\x74\x02"); /* test rax, rax; jz over the call */
	CODE(as, "\xff\xd0");             /* call rax */
	CODE(as, "\x58\xc3");             /* pop rax; ret */
}

static void emit_refuse(struct assembly *as, const struct sy_stub *stub)
{
	CODE(as, "\x48\x8d\x35"); /* lea rsi, [name] */
	relative(as, SY_ELF_RODATA, sy_bytes_put_text(&as->rodata, stub->name));
	CODE(as, "\x48\xc7\xc0"); /* mov rax, value (sign-extended) */
	immediate(as, stub->value);
	CODE(as, "\xe9"); /* jmp to the shared part */
	relative(as, SY_ELF_TEXT, as->refuse_at);
}

static void emit_value(struct assembly *as, int32_t value)
{
	CODE(as, "\x48\xc7\xc0"); /* mov rax, value (sign-extended) */
	immediate(as, value);
	CODE(as, "\xc3"); /* ret */
}

static void emit_text_address(struct assembly *as)
{
	CODE(as, "\x48\x8d\x05"); /* lea rax, [text] */
	relative(as, SY_ELF_RODATA, as->error_text_at);
}

/* if (argument[arg]) *(int *)argument[arg] = value */
static void emit_store_int(struct assembly *as, int arg, int32_t value)
{
	static const char test[3][5] = { "\x48\x85\xff\x74\x06", "\x48\x85\xf6\x74\x06", "\x48\x85\xd2\x74\x06" };
	static const char store[3][2] = { "\xc7\x07", "\xc7\x06", "\xc7\x02" };

	code(as, test[arg], sizeof(test[arg])); /* test rdi|rsi|rdx; jz over the store */
	code(as, store[arg], sizeof(store[arg]));
	immediate(as, value); /* mov dword [rdi|rsi|rdx], value */
}

static void emit_out_text(struct assembly *as, int arg)
{
	static const char body[3][8] = { "\x48\x85\xff\x74\x03\x48\x89\x07", "\x48\x85\xf6\x74\x03\x48\x89\x06",
		                         "\x48\x85\xd2\x74\x03\x48\x89\x02" };

	emit_text_address(as);
	code(as, body[arg], sizeof(body[arg])); /* test rdi|rsi|rdx; jz over; mov [rdi|rsi|rdx], rax */
	CODE(as, "\x31\xc0\xc3");               /* xor eax, eax; ret */
}

static void emit_property(struct assembly *as, const struct sy_stub *stub)
{
	const int32_t values[] = { stub->value, stub->value2, stub->value3 };
	size_t at;

	sy_bytes_align(&as->rodata, sizeof(values[0]));
	at = sy_bytes_put(&as->rodata, values, sizeof(values));
	CODE(as, "\x48\x8d\x05"); /* lea rax, [values] */
	relative(as, SY_ELF_RODATA, at);
	CODE(as, "\x89\xff\x83\xff\x02\x77\x08"); /* mov edi, edi; cmp edi, 2; ja to the refusal */
	CODE(as, "\x8b\x04\xb8\x89\x06");         /* mov eax, [rax + 4 * rdi]; mov [rsi], eax */
	CODE(as, "\x31\xc0\xc3");                 /* xor eax, eax; ret */
	emit_value(as, stub->arg);
}

static void emit_body(struct assembly *as, const struct sy_stub *stub)
{
	CODE(as, "\xf3\x0f\x1e\xfa"); /* endbr64 */
	switch (stub->kind) {
	case SY_STUB_REFUSE:
		emit_refuse(as, stub);
		break;
	case SY_STUB_VALUE:
		emit_value(as, stub->value);
		break;
	case SY_STUB_TEXT:
		emit_text_address(as);
		CODE(as, "\xc3"); /* ret */
		break;
	case SY_STUB_OUT_INT:
		emit_store_int(as, stub->arg, stub->value);
		emit_value(as, 0);
		break;
	case SY_STUB_OUT_TWO_INTS:
		emit_store_int(as, stub->arg, stub->value);
		emit_store_int(as, stub->arg + 1, stub->value2);
		emit_value(as, 0);
		break;
	case SY_STUB_OUT_TEXT:
		emit_out_text(as, stub->arg);
		break;
	case SY_STUB_EMPTY_TEXT:
		CODE(as, "\x48\x85\xf6\x74\x03\xc6\x07\x00\xc3"); /* test rsi, rsi; jz; mov byte [rdi], 0; ret */
		break;
	case SY_STUB_PROPERTY:
		emit_property(as, stub);
		break;
	case SY_STUB_OBJECT:
		break;
	}
}

static void emit_stub(struct assembly *as, const struct sy_stub *stub)
{
	struct sy_elf_symbol *symbol = &as->symbols[as->n_symbols++];

	symbol->name = stub->name;
	symbol->version = stub->version;
	symbol->is_object = stub->kind == SY_STUB_OBJECT;
	if (symbol->is_object) {
		symbol->value = as->data_bytes;
		symbol->size = (uint64_t)stub->value;
		as->data_bytes += (symbol->size + 63) / 64 * 64;
		return;
	}
	sy_bytes_align(&as->text, 16);
	symbol->value = as->text.used;
	emit_body(as, stub);
	symbol->size = as->text.used - symbol->value;
}

int sy_stub_library(const char *soname, const char *import, const struct sy_stub *stubs, size_t n_stubs,
                    struct sy_bytes *image)
{
	struct assembly as = { .data_bytes = 0 };
	struct sy_elf_library library = { .soname = soname, .import = import, .text = &as.text, .rodata = &as.rodata };
	int result = -1;
	size_t i;

	as.symbols = calloc(n_stubs + 1, sizeof(*as.symbols));
	as.fixups = calloc((n_stubs + 1) * MAX_FIXUPS_PER_STUB, sizeof(*as.fixups));
	if (as.symbols && as.fixups) {
		as.error_text_at = sy_bytes_put_text(&as.rodata, ERROR_TEXT);
		emit_shared_refusal(&as, sy_bytes_put_text(&as.rodata, soname));
		for (i = 0; i < n_stubs; i++)
			emit_stub(&as, &stubs[i]);
		library.symbols = as.symbols;
		library.n_symbols = as.n_symbols;
		library.fixups = as.fixups;
		library.n_fixups = as.n_fixups;
		library.data_bytes = as.data_bytes;
		if (!as.text.has_failed && !as.rodata.has_failed)
			result = sy_elf_write(&library, image);
	}
	sy_bytes_free(&as.text);
	sy_bytes_free(&as.rodata);
	free(as.symbols);
	free(as.fixups);
	return result;
}
