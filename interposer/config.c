/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/config.h"

#include "interposer/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct sy_config sy_config;

/* The first of the named variables that holds a number; schedulers disagree about the names. */
static int first_number(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		char *end;
		long value;

		if (!text || !*text)
			continue;
		value = strtol(text, &end, 10);
		if (*end == '\0' && value >= 0 && value < 1 << 30)
			return (int)value;
	}
	return -1;
}

static void unknown_value(const char *name, const char *text, const char *default_text)
{
	sy_log(name, "=", text, " is not known; ", default_text, " is used");
}

/* Whether the text is this choice. The argument of a choice that takes one may not be empty. */
static bool is_choice(const char *text, const char *choice)
{
	size_t n = strlen(choice);

	return choice[n - 1] == ':' ? strncmp(text, choice, n) == 0 && text[n] : strcmp(text, choice) == 0;
}

static void read_choices(void)
{
	const char *text;

#define VALUE(value_text, constant) { value_text, constant },
#define OPTION(name, field, values)                                                                                    \
	do {                                                                                                           \
		static const struct {                                                                                  \
			const char *text;                                                                              \
			__typeof__(sy_config.field) value;                                                             \
		} choices_[] = { values };                                                                             \
		size_t i_ = 0;                                                                                         \
		const size_t n_ = sizeof(choices_) / sizeof(choices_[0]);                                              \
		text = getenv(name);                                                                                   \
		while (text && *text && i_ < n_ && !is_choice(text, choices_[i_].text))                                \
			i_++;                                                                                          \
		if (i_ == n_) {                                                                                        \
			unknown_value(name, text, choices_[0].text);                                                   \
			i_ = 0;                                                                                        \
		}                                                                                                      \
		sy_config.field = choices_[i_].value;                                                                  \
	} while (0);
#include "options.def"
#undef OPTION
#undef VALUE
}

void sy_config_read(void)
{
	static const char *const rank[] = { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL };
	static const char *const local_rank[] = { "LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", NULL };
	static const char *const world_size[] = { "WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
		                                  NULL };

	read_choices();
	sy_config.step_name = sy_config.steps == SY_STEPS_NVTX ? strchr(getenv("SYNCTALLY_STEP"), ':') + 1 : NULL;
	sy_config.out = getenv("SYNCTALLY_OUT");
	if (sy_config.out && !*sy_config.out)
		sy_config.out = NULL;
	/* In a privileged program the environment belongs to somebody else: write nothing at all. */
	if (getauxval(AT_SECURE))
		sy_config.is_active = false;
	sy_config.rank = first_number(rank);
	sy_config.local_rank = first_number(local_rank);
	sy_config.world_size = first_number(world_size);
}
