#include "diag.h"

#include <string.h>

int diag(struct diag *d, int status, int error, const char *format, ...)
{
	char text[sizeof(d->text)];
	struct text t;
	va_list ap;

	/* Not in place: D's former text may be among the arguments. */
	text_init(&t, text, sizeof(text));
	va_start(ap, format);
	text_vadd(&t, format, ap);
	va_end(ap);
	memcpy(d->text, text, t.length + 1);
	d->status = status;
	d->error = error;
	return -1;
}
