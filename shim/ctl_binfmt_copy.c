#include "ctl_binfmt.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"

enum { IMAGE_MAX = 8 << 20 };

static int unable(const char *what, const char *path)
{
	return ctl_fail(CTL_FAILED, "unable to %s %.512s: %s", what, path, strerror(errno));
}

static int read_all(int fd, const char *path, struct binfmt_image *image)
{
	struct stat st;
	size_t done = 0;
	ssize_t r = 1;

	if (fstat(fd, &st))
		return unable("read", path);
	if (!S_ISREG(st.st_mode) || st.st_size > IMAGE_MAX)
		return ctl_fail(CTL_FAILED, "%.512s is not hwcap-exec", path);
	image->size = (size_t)st.st_size;
	image->bytes = malloc(image->size + sizeof(*image->stamp) + 1);
	if (!image->bytes)
		return unable("read", path);
	while (r > 0 && done < image->size) {
		r = read(fd, image->bytes + done, image->size - done);
		done += r > 0 ? (size_t)r : 0;
	}
	return done == image->size ? CTL_OK : unable("read", path);
}

static int find_stamp(const char *path, struct binfmt_image *image)
{
	unsigned char *at = stamp_find(image->bytes, image->size);

	if (!at || image->size < sizeof(Elf64_Ehdr) || memcmp(image->bytes, ELFMAG, SELFMAG))
		return ctl_fail(CTL_FAILED,
				"%.512s is not hwcap-exec, or is one of another version", path);
	/* Without it every exec of the interpreter would match its own rule. */
	if (!(image->bytes[EI_ABIVERSION] & 0x80))
		return ctl_fail(CTL_FAILED,
				"%.512s has lost the marker of hwcap-exec (byte 8 of the file): "
				"as an interpreter it would call itself; install it anew",
				path);
	image->stamp_at = (size_t)(at - image->bytes);
	image->stamp = malloc(sizeof(*image->stamp));
	if (!image->stamp)
		return unable("read", path);
	memcpy(image->stamp, at, sizeof(*image->stamp));
	if (image->stamp->flags & ~(uint32_t)STAMP_KNOWN)
		return ctl_fail(CTL_FAILED, "%.512s is one of another version", path);
	return CTL_OK;
}

int binfmt_image_read(const char *path, struct binfmt_image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status;

	*image = (struct binfmt_image){ 0 };
	if (fd < 0)
		return unable("open", path);
	status = read_all(fd, path, image);
	close(fd);
	if (!status)
		status = find_stamp(path, image);
	if (status)
		binfmt_image_free(image);
	return status;
}

void binfmt_image_free(struct binfmt_image *image)
{
	free(image->bytes);
	free(image->stamp);
	*image = (struct binfmt_image){ 0 };
}

bool binfmt_image_same(const struct binfmt_image *a, const struct binfmt_image *b)
{
	const size_t end = a->stamp_at + sizeof(struct stamp);

	return a->size == b->size && a->stamp_at == b->stamp_at &&
	       !memcmp(a->bytes, b->bytes, a->stamp_at) &&
	       !memcmp(a->bytes + end, b->bytes + end, a->size - end);
}

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
	while (size) {
		ssize_t r = write(fd, bytes, size);

		if (r <= 0)
			return -1;
		bytes += r;
		size -= (size_t)r;
	}
	return 0;
}

int binfmt_image_create(const struct binfmt_image *image, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755), r;

	if (fd < 0)
		return unable("create", path);
	memcpy(image->bytes + image->stamp_at, image->stamp, sizeof(*image->stamp));
	r = write_all(fd, image->bytes, image->size);
	if (!r)
		r = fchmod(fd, 0755);
	if (!r)
		r = fsync(fd);
	if (close(fd) || r) {
		r = unable("write", path);
		unlink(path);
		return r;
	}
	return CTL_OK;
}

int binfmt_image_write(const struct binfmt_image *image, const char *path)
{
	char new[PATH_MAX];
	int status;

	if (snprintf(new, sizeof(new), "%s.new", path) >= (int)sizeof(new))
		return ctl_fail(CTL_FAILED, "%.512s: path too long", path);
	unlink(new); /* of one that was broken off */
	status = binfmt_image_create(image, new);
	if (!status && rename(new, path)) {
		status = unable("replace", path);
		unlink(new);
	}
	return status;
}
