/*
 * hidden.h - everything hwcap-exec is made of is hidden
 *
 * Included first in each of its files, libc's headers too: the address of a
 * function or object then never comes from a global offset table, which
 * nobody would relocate.
 */
#ifndef HIDDEN_H
#define HIDDEN_H

#pragma GCC visibility push(hidden)

#endif
