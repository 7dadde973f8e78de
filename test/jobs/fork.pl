# fork.pl - fork, wait, pipes, backticks, its own path
use strict;
use warnings;

pipe(my $read, my $write) or die "pipe: $!";
my $pid = fork() // die "fork: $!";
if ($pid == 0) {
	close $read;
	print $write join(",", map { $_ ** 2 } 1 .. 20), "\n";
	exit 7;
}
close $write;
print <$read>;
waitpid($pid, 0);
print "status ", $? >> 8, "\n";
print `$^X -e 'print 6 * 7, "\n"'`;
print "$^X $0\n";
