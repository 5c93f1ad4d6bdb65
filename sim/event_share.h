/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_share.h - events whose records other processes see
 *
 * The page holds the latest record of any process. Times are those of the
 * clock, which all processes of a machine share; virtual clocks are taken for
 * one, as between the ranks of a communicator. Lock held for all.
 */
#ifndef SIM_EVENT_SHARE_H
#define SIM_EVENT_SHARE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdint.h>

struct sim_event_page {
	_Atomic uint64_t complete_ns; /* of the latest record; written before its number */
	_Atomic uint64_t n_records;
};

/* From now on records of the event go to the page; it is unmapped with the event. Needs CU_EVENT_INTERPROCESS. */
CUresult sim_event_share(CUevent event, struct sim_event_page *page, int fd);

/* The file of a shared event, -1 if it is not shared yet; CUDA_ERROR_INVALID_HANDLE if it never can be. */
CUresult sim_event_shared_file(CUevent event, int *fd);

#endif
