/** The number of a system call on x86-64, and on ARM64, which has some only in a newer form. */
type Syscall = readonly [x64: number, arm64: number | undefined];
type Syscalls = Readonly<Record<string, Syscall>>;

/** Other processes, kernel objects and privileges: neither extraction nor media need them. */
const DENIED: Syscalls = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  setpriority: [141, 140],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setattr: [314, 274],
  sched_setaffinity: [203, 122],
  ioprio_set: [251, 30],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  mknod: [133, undefined],
  // Landlock does not restrict these calls on files, or not before Linux 6.2.
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  chown: [92, undefined],
  lchown: [94, undefined],
  fchown: [93, 55],
  fchownat: [260, 54],
  utime: [132, undefined],
  utimes: [235, undefined],
  futimesat: [261, undefined],
  utimensat: [280, 88],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  truncate: [76, 45],
  inotify_add_watch: [254, 27],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  // What others find: servers, shared memory, queues, files in memory.
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  semctl: [66, 191],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  memfd_create: [319, 279],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  // The whole system.
  unshare: [272, 97],
  setns: [308, 268],
  chroot: [161, 51],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  acct: [163, 89],
  syslog: [103, 116],
  vhangup: [153, 58],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  // Whatever is started stays in its process group, which is killed as a whole.
  setpgid: [109, 154],
  setsid: [112, 157],
};

/** A program that runs in the sandbox: yt-dlp starts a JavaScript runtime, FFmpeg only threads. */
export type ConfinedProgram = 'yt-dlp' | 'ffmpeg';

const DENIED_TO: Readonly<Record<ConfinedProgram, Syscalls>> = {
  'yt-dlp': {},
  // `kill`: its process group is that of the service.
  ffmpeg: { fork: [57, undefined], vfork: [58, undefined], kill: [62, 129] },
};

/** Calls from here on have the same number on all processors. They do not exist, as in an older kernel, but for these. */
const FIRST_NEW = 424;
const NEW_ALLOWED = { close_range: 436, openat2: 437, faccessat2: 439, epoll_pwait2: 441, futex_waitv: 449 };

/** Calls that are allowed by their arguments. */
const EXAMINED = {
  prctl: [157, 167],
  clone: [56, 220],
  kill: [62, 129],
  prlimit64: [302, 261],
  fcntl: [72, 25],
  ioctl: [16, 29],
  mknodat: [259, 33],
  socket: [41, 198],
  socketpair: [53, 199],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
} as const satisfies Syscalls;

/** The numbers that linux/audit.h gives to processors. */
const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Calls from here on have the x32 ABI of x86-64. */
const X32 = 0x40000000;
/** Offsets in `struct seccomp_data` of linux/seccomp.h; of an argument, its lower half. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

const EPERM = 1;
const ENOSYS = 38;
const CLONE_THREAD = 0x00010000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NAMESPACES = 0x7e020000;
/** It hides the descriptors of a process from others of its user, which count its files. */
const PR_SET_DUMPABLE = 4;
/** They have the kernel send signals to a process: F_SETOWN, F_SETSIG, F_SETOWN_EX; FIOSETOWN, SIOCSPGRP. */
const FCNTL_DENIED = [8, 10, 15];
/** The others write into a terminal: TIOCSTI, TIOCLINUX. */
const IOCTL_DENIED = [0x8901, 0x8902, 0x5412, 0x541c];
/** S_IFMT and S_IFREG of a mode; 0 is a regular file, too. */
const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
/** Leaves out SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCKET_TYPE = 0xf;
const IPPROTO_TCP = 6;
/** Connects while it sends, past Landlock. */
const MSG_FASTOPEN = 0x20000000;

/** `struct sock_filter` of linux/filter.h. The jumps are numbers of instructions to skip. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const loadWord = (offset: number): Instruction => [0x20, 0, 0, offset];
const and = (mask: number): Instruction => [0x54, 0, 0, mask];
const skipUnless = (test: 0x15 | 0x35 | 0x45, value: number, count: number): Instruction => [test, 0, count, value];
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000];
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x00050000 | errno];
const failIf = (values: readonly number[], errno: number): Instruction[] =>
  values.flatMap((value) => [skipUnless(EQUAL, value, 1), fail(errno)]);
/** Allows these values of the last one that was loaded, and no others. */
const allowOnly = (...values: readonly number[]): Instruction[] => [
  ...values.flatMap((value) => [skipUnless(EQUAL, value, 1), ALLOW]),
  fail(EPERM),
];
/** Process 0 is the calling one, or its group. Process ids are an `int`: the lower half is all of the argument. */
const OWN_PROCESS: readonly Instruction[] = [loadWord(argument(0)), ...allowOnly(0)];

/**
 * A filter of system calls as the kernel takes it (seccomp(2)): sockets for TCP alone and no server, no other process, no
 * modes, owners, times and attributes of files, no namespaces or mounts, and what is denied to the program. Denied calls fail
 * with EPERM.
 * @returns undefined for a processor without a table
 */
export function syscallFilter(program: ConfinedProgram, architecture: NodeJS.Architecture): Buffer | undefined {
  const audit = ARCHITECTURES[architecture];
  if (audit === undefined) return undefined;
  const column = architecture === 'x64' ? 0 : 1;
  const when = (syscall: Syscall, ...instructions: readonly Instruction[]): Instruction[] => {
    const number = syscall[column];
    return number === undefined ? [] : [skipUnless(EQUAL, number, instructions.length), ...instructions];
  };
  const instructions: readonly Instruction[] = [
    loadWord(ARCHITECTURE),
    [EQUAL, 1, 0, audit],
    fail(EPERM),
    loadWord(NUMBER),
    ...(architecture === 'x64' ? [skipUnless(AT_LEAST, X32, 1), fail(EPERM)] : []),
    ...Object.values({ ...DENIED, ...DENIED_TO[program] }).flatMap((syscall) => when(syscall, fail(EPERM))),
    // With `clone3`, whose flags are in memory, which a filter does not read: the C library continues with `clone`.
    skipUnless(AT_LEAST, FIRST_NEW, Object.keys(NEW_ALLOWED).length * 2 + 1),
    ...Object.values(NEW_ALLOWED).flatMap((number) => [skipUnless(EQUAL, number, 1), ALLOW]),
    fail(ENOSYS),
    ...when(EXAMINED.kill, ...OWN_PROCESS),
    ...when(EXAMINED.prlimit64, ...OWN_PROCESS),
    ...when(EXAMINED.prctl, loadWord(argument(0)), ...failIf([PR_SET_DUMPABLE], EPERM), ALLOW),
    ...when(EXAMINED.fcntl, loadWord(argument(1)), ...failIf(FCNTL_DENIED, EPERM), ALLOW),
    ...when(EXAMINED.ioctl, loadWord(argument(1)), ...failIf(IOCTL_DENIED, EPERM), ALLOW),
    ...when(
      EXAMINED.clone,
      loadWord(argument(0)),
      ...(program === 'ffmpeg' ? ([[ANY_BIT, 1, 0, CLONE_THREAD], fail(EPERM)] as const) : []),
      skipUnless(ANY_BIT, CLONE_NAMESPACES, 1),
      fail(EPERM),
      ALLOW,
    ),
    ...when(EXAMINED.mknodat, loadWord(argument(2)), and(FILE_TYPE), ...allowOnly(0, REGULAR_FILE)),
    ...when(EXAMINED.socket, ...SOCKET),
    // Datagrams could be sent to any socket in the file system, which Landlock does not restrict.
    ...when(EXAMINED.socketpair, loadWord(argument(1)), and(SOCKET_TYPE), ...allowOnly(SOCK_STREAM)),
    // No address: `send` of the C library is a `sendto` without one. That of sendmsg(2) is in memory, which a filter does not read.
    ...when(
      EXAMINED.sendto,
      loadWord(argument(4)),
      skipUnless(EQUAL, 0, 3),
      loadWord(argument(4) + 4),
      ...allowOnly(0),
    ),
    ...when(EXAMINED.sendmsg, loadWord(argument(2)), skipUnless(ANY_BIT, MSG_FASTOPEN, 1), fail(EPERM), ALLOW),
    ...when(EXAMINED.sendmmsg, loadWord(argument(3)), skipUnless(ANY_BIT, MSG_FASTOPEN, 1), fail(EPERM), ALLOW),
    ALLOW,
  ];
  const filter = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    filter.writeUInt16LE(code, index * 8);
    filter.writeUInt8(ifTrue, index * 8 + 2);
    filter.writeUInt8(ifFalse, index * 8 + 3);
    filter.writeUInt32LE(value, index * 8 + 4);
  }
  return filter;
}

/** Only TCP: Landlock knows no ports of other protocols (Multipath TCP is one), and no sockets in the file system. */
const SOCKET: readonly Instruction[] = [
  loadWord(argument(0)),
  [EQUAL, 2, 0, AF_INET],
  [EQUAL, 1, 0, AF_INET6],
  fail(EPERM),
  loadWord(argument(1)),
  and(SOCKET_TYPE),
  [EQUAL, 1, 0, SOCK_STREAM],
  fail(EPERM),
  loadWord(argument(2)),
  [EQUAL, 1, 0, 0],
  skipUnless(EQUAL, IPPROTO_TCP, 1),
  ALLOW,
  fail(EPERM),
];
