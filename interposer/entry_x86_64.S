/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_x86_64.S - dlsym and dlvsym, up to the decision whether we answer
 *
 * A function in C would put its own return address between the caller and the
 * true dlsym, and RTLD_NEXT would then mean "after us" for everybody. So the
 * way on is a jump with all argument registers as they came.
 */
	.text

	.macro CALL_KEEPING_ARGUMENTS function
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	push %rdx
	.cfi_adjust_cfa_offset 8
	call \function
	pop %rdx
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	.endm

	.globl dlsym
	.type dlsym, @function
	.p2align 4
dlsym:
	.cfi_startproc
	endbr64
	cmpq $0, sy_real_dlsym(%rip)
	jne 1f
	CALL_KEEPING_ARGUMENTS sy_dl_init
1:	test %rsi, %rsi
	jz 2f
	cmpb $'c', (%rsi)
	jne 2f
	cmpb $'u', 1(%rsi)
	jne 2f
	CALL_KEEPING_ARGUMENTS sy_dl_answer
	test %rax, %rax
	jz 2f
	ret
2:	jmp *sy_real_dlsym(%rip)
	.cfi_endproc
	.size dlsym, . - dlsym

	.globl dlvsym
	.type dlvsym, @function
	.p2align 4
dlvsym:
	.cfi_startproc
	endbr64
	cmpq $0, sy_real_dlvsym(%rip)
	jne 1f
	CALL_KEEPING_ARGUMENTS sy_dl_init
1:	jmp *sy_real_dlvsym(%rip)
	.cfi_endproc
	.size dlvsym, . - dlvsym

	.section .note.GNU-stack, "", @progbits
