#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What runs inside the training process must not end it, allocate from its heap, print to its streams, start
# threads, take its signals or change its environment. Seen in the source, and in the objects where macros hide nothing.
. "$(dirname "$0")/lib.bash"

ENDING='exit|_exit|_Exit|quick_exit|abort|__assert_fail|assert|raise|kill'
HEAP='malloc|calloc|realloc|free|strdup|strndup|asprintf|vasprintf|posix_memalign|aligned_alloc|getline'
PRINTING='printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|fputc|putchar|perror|fwrite|fopen|fclose|fflush|syslog'
THREADS='pthread_create|thrd_create|fork|vfork|clone|posix_spawn|posix_spawnp|system|popen|execve?|execv|execvp|execl|execlp'
SIGNALS='signal|sigaction|sigprocmask|pthread_sigmask|alarm|setitimer'
ENVIRONMENT='setenv|unsetenv|putenv|clearenv|chdir|umask|setlocale'
ENDS='atexit|on_exit|__cxa_atexit|at_quick_exit'
WAITING='sleep|usleep|nanosleep|clock_nanosleep|poll|select|epoll_wait|pause'
FORBIDDEN="$ENDING|$HEAP|$PRINTING|$THREADS|$SIGNALS|$ENVIRONMENT|$ENDS|$WAITING"

# Calls in the source, comments and strings aside.
without_comments() {
	gcc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null | sed 's/"\([^"\\]\|\\.\)*"/""/g'
}
for source in interposer/*.[ch] trace/writer.[ch] trace/maps.[ch] trace/blind.[ch]; do
	check "$source calls nothing forbidden" \
		"$(without_comments "$source" | grep -nE "(^|[^A-Za-z0-9_.>])($FORBIDDEN)[[:space:]]*\(" | sed "s|^|$source: |")"
done

objects=$(find "$BUILD/obj/interposer" "$BUILD"/obj/trace/{writer,maps,blind}.c.o -name '*.o' 2>/dev/null)
[ -n "$objects" ] || objects=/nonexistent
# shellcheck disable=SC2086 # a list of files
check "the objects refer to nothing forbidden" \
	"$(nm -A -u $objects 2>&1 | grep -vE ' [Uw] ' | grep . ; nm -A -u $objects 2>/dev/null | grep -E " [Uw] ($FORBIDDEN|__(f|v|vf|d)?printf_chk)(@.*)?$")"
finish
