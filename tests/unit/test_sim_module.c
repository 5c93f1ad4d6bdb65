/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for the device: what is read of them, and the linker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A cubin reduced to a table of symbols; packed in one block, and not aligned when loaded. */
struct cubin {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[4];
	char names[32];
};

static struct cubin make_cubin(void)
{
	struct cubin cubin = { .names = "\0counter\0table\0kernel\0elsewhere" };

	memcpy(cubin.header.e_ident, ELFMAG, SELFMAG);
	cubin.header.e_ident[EI_CLASS] = ELFCLASS64;
	cubin.header.e_shoff = offsetof(struct cubin, sections);
	cubin.header.e_shentsize = sizeof(Elf64_Shdr);
	cubin.header.e_shnum = 3;
	cubin.sections[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
		                          .sh_offset = offsetof(struct cubin, symbols),
		                          .sh_size = sizeof(cubin.symbols),
		                          .sh_link = 2 };
	cubin.sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
		                          .sh_offset = offsetof(struct cubin, names),
		                          .sh_size = sizeof(cubin.names) };
	cubin.symbols[0] = (Elf64_Sym){ 1, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 5, 0, 4 };
	cubin.symbols[1] = (Elf64_Sym){ 9, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 5, 64, 4096 };
	cubin.symbols[2] = (Elf64_Sym){ 15, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 4, 0, 128 };
	cubin.symbols[3] = (Elf64_Sym){ 22, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, SHN_UNDEF, 0, 8 };
	return cubin;
}

static int make_context(void **state)
{
	CUcontext context;

	(void)state;
	if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS)
		return -1;
	return cuCtxSetCurrent(context) == CUDA_SUCCESS ? 0 : -1;
}

static void test_variables_are_as_long_as_the_cubin_says(void **state)
{
	char image[sizeof(struct cubin) + 1];
	struct cubin cubin = make_cubin();
	CUdeviceptr counter, table, again;
	uint32_t value = 7;
	CUmodule module;
	size_t bytes;

	(void)state;
	memcpy(image + 1, &cubin, sizeof(cubin));
	assert_int_equal(cuModuleLoadData(&module, image + 1), CUDA_SUCCESS);
	memset(image, 0, sizeof(image));
	assert_int_equal(cuModuleGetGlobal(&counter, &bytes, module, "counter"), CUDA_SUCCESS);
	assert_int_equal(bytes, 4);
	assert_int_equal(cuModuleGetGlobal(&table, &bytes, module, "table"), CUDA_SUCCESS);
	assert_int_equal(bytes, 4096);
	assert_true(table != counter);
	assert_int_equal(cuModuleGetGlobal(&again, NULL, module, "counter"), CUDA_SUCCESS);
	assert_true(again == counter);
	assert_int_equal(cuMemcpyHtoD(counter, &value, sizeof(value)), CUDA_SUCCESS);
	assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
	assert_int_equal(cuMemcpyHtoD(counter, &value, sizeof(value)), CUDA_ERROR_INVALID_VALUE);
}

static void test_in_other_images_every_name_is_a_variable(void **state)
{
	CUdeviceptr address;
	CUmodule module;
	size_t bytes;

	(void)state;
	assert_int_equal(cuModuleLoadData(&module, ""), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetGlobal(&address, &bytes, module, "anything"), CUDA_SUCCESS);
	assert_true(bytes >= 65536);
	assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
}

static void test_the_linker_gives_a_module(void **state)
{
	char text[] = ".version 7.0", path[] = "/tmp/synctally-link-XXXXXX";
	CUlinkState link;
	CUfunction function;
	CUmodule module;
	void *image;
	size_t bytes;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
	assert_int_equal(cuLinkCreate(0, NULL, NULL, &link), CUDA_SUCCESS);
	assert_int_equal(cuLinkComplete(link, &image, &bytes), CUDA_ERROR_INVALID_IMAGE);
	assert_int_equal(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL),
	                 CUDA_ERROR_FILE_NOT_FOUND);
	assert_int_equal(cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, NULL, NULL), CUDA_SUCCESS);
	assert_int_equal(cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
	assert_int_equal(bytes, sizeof(text));
	assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, sizeof(text), "name", 0, NULL, NULL),
	                 CUDA_SUCCESS);
	assert_int_equal(cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, image), CUDA_SUCCESS);
	assert_int_equal(cuLinkDestroy(link), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&function, module, "kernel"), CUDA_SUCCESS);
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
	assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
	assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables_are_as_long_as_the_cubin_says),
		cmocka_unit_test(test_in_other_images_every_name_is_a_variable),
		cmocka_unit_test(test_the_linker_gives_a_module),
	};

	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	return cmocka_run_group_tests_name("sim_module", tests, make_context, NULL);
}
