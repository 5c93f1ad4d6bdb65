/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudnn_version.c - the cuDNN version that the caller was built against
 *
 * PyTorch refuses a cuDNN older than the one of its build and chooses kernels
 * by the version it finds.
 */
#include "sim/cudnn.h"

#include "sim/torch_pin.h"

int sim_dnn_version(const void *caller)
{
	/* Newer than every cuDNN 9 there is: minor versions are backward compatible. */
	int version[3] = { 9, 99, 0 };

	sim_torch_pin(caller, "cudnn", version);
	return version[0] * 10000 + version[1] * 100 + version[2];
}
