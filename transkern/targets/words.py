"""Words that emitted code cannot call the user's variables by: those of C, C++, CUDA, Python and their libraries."""

from __future__ import annotations

import builtins
import errno
import keyword
import re
import signal

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
nullptr alignas alignof constexpr static_assert thread_local typeof typeof_unqual asm fortran near far huge and_eq
bitand bitor catch char8_t char16_t char32_t class compl concept consteval constinit const_cast co_await co_return
co_yield decltype delete dynamic_cast explicit export final friend import module mutable namespace new noexcept not_eq
operator or_eq override private protected public reinterpret_cast requires static_cast template this throw try typeid
typename using virtual wchar_t xor xor_eq unix linux i386
"""

_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp2 exp10 expm1 fabs fdim finite
floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2
logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round roundeven scalb
scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn rsqrt rcbrt sinpi cospi sincospi rhypot
norm norm3d norm4d rnorm rnorm3d rnorm4d erfinv erfcinv erfcx normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 fdivide
"""

_USED = """
fpclassify isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal isunordered signbit
math_errhandling signgam assert errno stdin stdout stderr alloca abs labs llabs div ldiv lldiv malloc calloc realloc
free aligned_alloc memcpy memmove memset memcmp memchr strlen strcmp qsort bsearch abort exit printf puts mmap munmap
madvise mprotect sysconf syscall sched_yield sched_getcpu getenv offsetof va_list va_start va_end va_arg min max
blkcnt_t blksize_t caddr_t clock_t clockid_t daddr_t dev_t double_t float_t fd_mask fd_set fpos_t fsblkcnt_t
fsfilcnt_t fsid_t gid_t id_t ino_t intmax_t intptr_t key_t locale_t loff_t mode_t nlink_t off_t pid_t ptrdiff_t quad_t
sig_atomic_t sigset_t size_t ssize_t suseconds_t time_t timer_t timeval timespec uid_t uintmax_t uintptr_t useconds_t
max_align_t div_t ldiv_t lldiv_t pthread_t cpu_set_t u_char u_short u_int u_long u_quad_t uint ushort ulong be16toh
be32toh be64toh htobe16 htobe32 htobe64 htole16 htole32 htole64 le16toh le32toh le64toh L_tmpnam P_tmpdir L_ctermid
sched_priority major minor makedev BIG_ENDIAN LITTLE_ENDIAN PDP_ENDIAN BYTE_ORDER BUFSIZ EOF NULL NAN INFINITY NSIG
NGREG NFDBITS DECIMAL_DIG HUGE DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS SNAN R_OK W_OK X_OK F_OK I
"""

_DECLARED = """
a64l access acct alarm arc4random arc4random_buf arc4random_uniform at_quick_exit atexit atof atoi atol atoll bcmp
bcopy brk bzero chdir chown chroot clearenv clock close confstr crypt daemon drand48 drand48_r dup dup2 dysize ecvt
ecvt_r erand48 erand48_r execl execle execlp execv execve execvp explicit_bzero fchdir fchown fclose fcvt fcvt_r
fdatasync fdopen feof ferror fflush ffs ffsl ffsll fgetc fgets fileno fopen fork fprintf fputc fputs fread freopen
fscanf fseek fsync ftell ftruncate fwrite gcvt getc getchar getcwd getgid getline getloadavg getlogin getopt
getpagesize getpass getpid getppid getsubopt getuid getw index initstate initstate_r isatty jrand48 jrand48_r kill
l64a lcong48 lcong48_r lgamma_r lgammaf_r lgammal_r link lockf lrand48 lrand48_r lseek main mblen mbstowcs mbtowc
memccpy memfrob memmem mempcpy memrchr mincore mkdtemp mkostemp mkstemp mkstemps mktemp mlock mlockall mrand48
mrand48_r mremap msync munlock munlockall nice nrand48 nrand48_r on_exit open pause pclose perror pipe popen
posix_madvise posix_memalign pread psignal putc putchar putenv putw pwrite qecvt qfcvt qgcvt quick_exit raise rand
rand_r random random_r rawmemchr read readlink reallocarray realpath remove rename rewind rindex rmdir rpmatch sbrk
scanf secure_getenv seed48 seed48_r select setbuf setenv setstate setstate_r shm_open shm_unlink signal sleep snprintf
sprintf srand srand48 srand48_r srandom srandom_r sscanf stpcpy stpncpy strcasecmp strcat strchr strcoll strcpy
strcspn strdup strerror strfry strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr
strtod strtof strtok strtok_r strtol strtold strtoll strtoq strtoul strtoull strtouq strverscmp strxfrm swab symlink
sync system tcgetpgrp tempnam time tmpfile tmpnam truncate ttyname ualarm ungetc unlink unsetenv usleep pselect
qecvt_r qfcvt_r strcasecmp_l strcoll_l strerror_l strerror_r strncasecmp strncasecmp_l strxfrm_l valloc vfork vprintf
wcstombs wctomb write
"""

_CUDA = """
threadIdx blockIdx blockDim gridDim warpSize dim3 half half2 clock clock64 atomicAdd atomicMax atomicMin atomicCAS
atomicExch cooperative_groups cg cuda std nv thread block grid warp coalesced this_thread_block this_grid
tiled_partition
"""

_OWN = """
group failure error error_records arrived grid_memory in_words last_of first_of from_lane from_lane_xor warp_reduce
warp_scan has_failed put_failure row_failed is_last_block Block Warp Grid Threads Pack Exact Half Best Failure Earlier
Larger Smaller Plus Or AddExactly RunExactly add_double run_double numpy numpy_ndarray numpy_empty overlap kept methods
module why reason function as_array new_array large_array take_array add_exactly block_free block_buffer block_type
block_slots block_spec keep_it running_value reserve release lowest as_double tell failed_at listen wants_errors
flags_here lower_flags tell_flags is_readonly overlaps_itself stream meet meeting leave_core self unused quotient carry
"""

_TYPE = re.compile(
    r"u_?int(\d+|_fast\d+|_least\d+)?(_t)?|int(\d+|_fast\d+|_least\d+)_t|u?(char|short|int|long|longlong|float|double)[1-4]|"
    r"make_\w+[1-4]|(omp|pthread|sched|cuda|cudart|PyObject)_?[A-Z_]\w*|Py\w+"
)
_MACRO = re.compile(
    r"(U?INT|U?INT_(FAST|LEAST)?\d*|U?INT(\d+|MAX|PTR)|FLT\d*X?|DBL|LDBL|DEC\d*|M|SA|CLOCKS?|SI|FP|FPE|SEGV|ILL|SIG|PROT|"
    r"POLL|CLD|POSIX|FD|BUS|SIGEV|BC|XATTR|SEEK|SCHED|PTHREAD|MS|MCL|L|HUGE|S?CHAR|UCHAR|WINT|WCHAR|SS|U?SHRT|U?LONG|"
    r"U?LLONG|PTRDIFF|S?SIZE|MB|MATH|EXIT|CPU|TIMER|MFD|PKEY|MREMAP|MLOCK|MAP|MADV|RAND|FOPEN|FILENAME|TMP|TIME|STDIN|"
    r"STDOUT|STDERR|MAX|NL|RE|BOOL|ATOMIC|SIGNAL|CUDA|CUDART|NV|OMP|KERN|LC|LT|XOPEN|GNU|USE)_[A-Z0-9_]+|"
    r"W(CONTINUED|EXITED|EXITSTATUS|IF[A-Z]+|NOHANG|NOWAIT|STOPPED|STOPSIG|TERMSIG|UNTRACED)"
)

_DEFINED = {w for w in (*dir(errno), *dir(signal)) if w.isupper()}
_PLAIN = frozenset({*_KEYWORDS.split(), *_USED.split(), *_CUDA.split(), *_OWN.split(), *_DEFINED})
_FUNCTIONS = frozenset(name + kind for name in _MATH.split() for kind in ("", "f", "l"))
_PREFIXES = ("py_", "numpy_", "step_", "slice_", "slices_", "unaligned_", "call_", "given_", "omp_")


def is_word_of_c(name: str) -> bool:
    """Whether a variable of C or CUDA C++ cannot have that name, or hides something that emitted code uses."""
    return (
        name in _PLAIN
        or name in _FUNCTIONS
        or name.startswith(("__", *_PREFIXES))
        or (name[:1] == "_" and name[1:2].isupper())
        or _TYPE.fullmatch(name) is not None
        or _MACRO.fullmatch(name) is not None
    )


_DECLARATIONS = frozenset(_DECLARED.split())


def is_declared_in_c(name: str) -> bool:
    """Whether the headers of C declare a function of that name: no other one can have it."""
    return is_word_of_c(name) or name in _DECLARATIONS


_PYTHON = frozenset({*dir(builtins), *keyword.kwlist, "np", "cp", "xp", "jax", "jnp", "lax", "pl", "pltpu", "functools",
                     "math", "Path", "VMEM", "INTERPRET", "on_host"})  # fmt: skip


def is_word_of_python(name: str) -> bool:
    """Whether a name in emitted Python hides one that the text around it uses."""
    return name in _PYTHON or name.startswith("given_") or (name.startswith("_") and not name.endswith("_"))
