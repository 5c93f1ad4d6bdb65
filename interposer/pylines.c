/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/pylines.h"

uint32_t sy_pylines_lnotab(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t offset)
{
	uint32_t address = 0, line = first_line;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		address += table[i];
		if (address > offset)
			break;
		line = (uint32_t)((int32_t)line + (int8_t)table[i + 1]);
	}
	return line;
}

uint32_t sy_pylines_ranges(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t offset)
{
	uint32_t end = 0, line = first_line;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end += table[i];
		if (delta != -128)
			line = (uint32_t)((int32_t)line + delta);
		if (offset < end)
			return delta == -128 ? 0 : line;
	}
	return 0;
}

/* Six bits a byte, least significant first; the seventh says that more follow. */
static uint32_t read_varint(const uint8_t **at, const uint8_t *end)
{
	uint32_t value = 0;

	for (unsigned shift = 0; *at < end && shift < 30; shift += 6) {
		uint8_t byte = *(*at)++;

		value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int32_t read_signed_varint(const uint8_t **at, const uint8_t *end)
{
	uint32_t value = read_varint(at, end);

	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

uint32_t sy_pylines_locations(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t unit)
{
	enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG_FORM = 14, NO_LOCATION = 15 };
	const uint8_t *at = table, *end = table + bytes;
	uint32_t done = 0, line = first_line;

	while (at < end) {
		uint8_t head = *at++;
		unsigned code = head >> 3 & 15;

		if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
			line += code - ONE_LINE_0;
		else if (code == NO_COLUMNS || code == LONG_FORM)
			line += (uint32_t)read_signed_varint(&at, end);
		done += (head & 7u) + 1;
		if (unit < done)
			return code == NO_LOCATION ? 0 : line;
		/* Only the first byte of an entry has its top bit set. */
		while (at < end && !(*at & 128))
			at++;
	}
	return 0;
}
