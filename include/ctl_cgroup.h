/*
 * ctl_cgroup.h - the records that hwcapctl keeps on cgroups
 *
 * Root's record holds the local mask of its cgroup and the effective one, so
 * that a reader needs one directory. Writing keeps, at every moment and for
 * every cgroup, what is hidden between what was before and what will be
 * after: more is hidden from the top down, less from the bottom up. A writer
 * that is killed leaves the local column as it is to be, and in the lock file
 * where it was; the next one goes on from there.
 *
 * Functions return an exit status and have said what went wrong.
 */
#ifndef CTL_CGROUP_H
#define CTL_CGROUP_H

#include "cgroup.h"

struct records {
	unsigned int present; /* entries that are written */
	bool repair;          /* write what is wrong */
	bool complain;        /* print it */
	unsigned long wrong;  /* how many records were */
	int status;
};

/* 1, 0 if DIR has no attribute NAME, -1 if it cannot be read or understood. */
int record_read(int dir, const char *name, struct cgroup_record *r);

int record_write(int dir, const char *name, const struct cgroup_record *r, unsigned int present);

/* Root's lock. A descriptor, or -1; first finishes what was broken off. */
int records_lock(struct records *records);
void records_unlock(int lock);

/* What root's records above PLACE hide. */
int records_above(const struct cgroup_place *place, struct hwcaps *above);

/* Give PLACE the local mask LOCAL; REMOVE: drop a record that hides nothing. */
int records_set(struct records *records, int lock, const struct cgroup_place *place,
		const struct hwcaps *local, bool remove);

/* Look at, or repair, PLACE and all below. */
int records_check(struct records *records, const struct cgroup_place *place);

#endif
