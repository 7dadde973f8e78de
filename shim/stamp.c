#include <string.h>

#include "stamp.h"

/* The only place with these bytes, so that a search finds nothing else. */
const struct stamp stamp_own = {
	.magic = "\x7fHWCAP-STAMP\r\n\x1a",
	.version = STAMP_VERSION,
};

void *stamp_find(void *bytes, size_t size)
{
	const size_t wanted = offsetof(struct stamp, flags);
	unsigned char *at = bytes, *end = at + size;

	while ((size_t)(end - at) >= sizeof(struct stamp)) {
		at = memchr(at, stamp_own.magic[0], (size_t)(end - at) - sizeof(struct stamp) + 1);
		if (!at)
			return NULL;
		if (!memcmp(at, &stamp_own, wanted))
			return at;
		at++;
	}
	return NULL;
}
