/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_render.h - what the doctor found, as text and as JSON (schema synctally-doctor/1) */
#ifndef SY_ANALYSIS_DOCTOR_RENDER_H
#define SY_ANALYSIS_DOCTOR_RENDER_H

#include "analysis/doctor.h"
#include "analysis/reach.h"

#include <stdbool.h>
#include <stdio.h>

/* The least that any of the objects has. */
enum sy_seen sy_doctor_seen(const struct sy_doctor *doctor);

/* `with_all`: also the objects of which everything is seen, which are else only counted. 0, or -1: no memory. */
int sy_doctor_text(const struct sy_doctor *doctor, bool with_all, FILE *out);
int sy_doctor_json(const struct sy_doctor *doctor, FILE *out);

#endif
