#include "diag.h"

int diag(struct diag *d, int status, int error, const char *format, ...)
{
	struct text t;
	va_list ap;

	d->status = status;
	d->error = error;
	text_init(&t, d->text, sizeof(d->text));
	va_start(ap, format);
	text_vadd(&t, format, ap);
	va_end(ap);

	for (char *p = d->text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return -1;
}
