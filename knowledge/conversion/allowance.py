"""How long the process that reads a file may compute: by its size, and more with each page and
picture that is done. So a file that was made to take long is given up in minutes, a long one not.

The system keeps to it: at the end of the allowance the process gets SIGXCPU."""

import resource

# Seconds of a processor: for any file, for each MB of the original, and for each page or picture.
# Office files and pages take up to a second for 100 kB, recognised pages up to ten.
FLOOR, FOR_A_MB, FOR_A_PAGE = 120, 30, 20
# Of all, beyond which nothing more is granted; the system kills without a word a little later.
_GRACE = 5


def begin(size: int, most: int) -> None:
    """`size` in bytes; `most` seconds in all."""
    allowed = min(FLOOR + FOR_A_MB * size // 1_000_000, most)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, most + _GRACE))


def more(done: int = 1) -> None:
    """For so many pages or pictures. Nothing where no limit was set."""
    allowed, most = resource.getrlimit(resource.RLIMIT_CPU)
    if resource.RLIM_INFINITY not in (allowed, most):
        allowed = min(allowed + FOR_A_PAGE * done, most - _GRACE)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


def is_half_used() -> bool:
    """Of what a file may take in all. Never where no limit was set."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    return most != resource.RLIM_INFINITY and spent > (most - _GRACE) / 2
