/* SPDX-License-Identifier: Apache-2.0 */
/* export_csv.c - a line per act, RFC 4180 */
#include "analysis/csv.h"
#include "analysis/export.h"

#include "trace/event.h"

#include <inttypes.h>

static int begin(void **self, const struct sy_export *job, struct sy_err *err)
{
	(void)err;
	*self = job->out;
	fputs("process,host,pid,rank,thread,step,counted,at_ns,blocked_ns,waited_ns,class,outcome,sync,file,line,"
	      "function,"
	      "api,direction,memory,bytes,device,launches_before,status\r\n",
	      job->out);
	return 0;
}

static void put_text(FILE *out, const char *text)
{
	sy_csv_put(out, text);
	fputc(',', out);
}

static int act(void *self, const struct sy_export_act *act, struct sy_err *err)
{
	FILE *out = self;
	const struct sy_file_header *header = &act->process->trace->header;
	const struct sy_event *first = act->act->first;

	fprintf(out, "%" PRIu32 ",", act->process->number);
	put_text(out, header->host);
	fprintf(out, "%" PRIu32 ",", header->pid);
	header->rank >= 0 ? fprintf(out, "%" PRId32 ",", header->rank) : fputc(',', out);
	put_text(out, act->thread_name);
	act->has_step ? fprintf(out, "%" PRIu32 ",", act->told->step) : fputc(',', out);
	fprintf(out, "%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%s,%d,", act->is_counted, act->at_ns,
	        act->act->blocked_ns, act->told->verdict.waited_ns, sy_act_class_name(act->told->verdict.class),
	        sy_export_outcome(act->told), act->is_sync);
	put_text(out, act->site.file);
	fprintf(out, "%" PRIu32 ",", act->site.line);
	put_text(out, act->site.function);
	put_text(out, act->api);
	fprintf(out, "%s,%s,%" PRIu64 ",%u,%" PRIu32 ",%" PRId32 "\r\n", sy_direction_name(act->act->direction),
	        sy_memory_name(act->act->memory), first->bytes, first->device, act->told->launches_before,
	        first->status);
	return ferror(out) ? sy_err_set(err, "cannot write the export") : 0;
}

static int end(void *self, bool is_good, struct sy_err *err)
{
	return is_good && fflush(self) != 0 ? sy_err_set(err, "cannot write the export") : 0;
}

const struct sy_sink sy_sink_csv = { .name = "csv", .begin = begin, .act = act, .end = end };
