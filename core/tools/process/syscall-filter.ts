/** The number of a system call on x86-64, and on ARM64, which has some only in a newer form. */
type Syscall = readonly [x64: number, arm64: number | undefined];
type Syscalls = Readonly<Record<string, Syscall>>;

/** Other processes, kernel objects and privileges: neither extraction nor media need them. */
const DENIED: Syscalls = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  unshare: [272, 97],
  setns: [308, 268],
  chroot: [161, 51],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
};

/** Whatever is started stays in its process group, which is killed as a whole. */
const GROUPS: Syscalls = { setpgid: [109, 154], setsid: [112, 157] };

/** yt-dlp starts a JavaScript runtime, FFmpeg only threads. */
export type FilteredProgram = 'yt-dlp' | 'ffmpeg';

const DENIED_TO: Readonly<Record<FilteredProgram, Syscalls>> = {
  'yt-dlp': GROUPS,
  ffmpeg: {
    ...GROUPS,
    fork: [57, undefined],
    vfork: [58, undefined],
    kill: [62, 129],
    tkill: [200, 130],
    tgkill: [234, 131],
    rt_sigqueueinfo: [129, 138],
    rt_tgsigqueueinfo: [297, 240],
    pidfd_send_signal: [424, 424],
  },
};

/** Calls that are allowed by their arguments. */
const EXAMINED = {
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
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

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const and = (mask: number): Instruction => [0x54, 0, 0, mask];
const skipUnless = (test: 0x15 | 0x35 | 0x45, value: number, count: number): Instruction => [test, 0, count, value];
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000];
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x00050000 | errno];

/**
 * A filter of system calls as the kernel takes it (seccomp(2)): sockets for TCP alone, no other process's memory, no
 * namespaces or mounts, and what is denied to the program. Denied calls fail with EPERM.
 * @returns undefined for a processor without a table
 */
export function syscallFilter(program: FilteredProgram, architecture: NodeJS.Architecture): Buffer | undefined {
  const audit = ARCHITECTURES[architecture];
  if (audit === undefined) return undefined;
  const column = architecture === 'x64' ? 0 : 1;
  const when = (syscall: Syscall, ...instructions: readonly Instruction[]): Instruction[] => {
    const number = syscall[column];
    return number === undefined ? [] : [skipUnless(EQUAL, number, instructions.length), ...instructions];
  };
  const instructions: readonly Instruction[] = [
    load(ARCHITECTURE),
    [EQUAL, 1, 0, audit],
    fail(EPERM),
    load(NUMBER),
    ...(architecture === 'x64' ? [skipUnless(AT_LEAST, X32, 1), fail(EPERM)] : []),
    ...Object.values({ ...DENIED, ...DENIED_TO[program] }).flatMap((syscall) => when(syscall, fail(EPERM))),
    // Its flags are in memory, which a filter does not read: the C library continues with `clone`.
    ...when(EXAMINED.clone3, fail(ENOSYS)),
    ...when(
      EXAMINED.clone,
      load(argument(0)),
      ...(program === 'ffmpeg' ? ([[ANY_BIT, 1, 0, CLONE_THREAD], fail(EPERM)] as const) : []),
      skipUnless(ANY_BIT, CLONE_NAMESPACES, 1),
      fail(EPERM),
      ALLOW,
    ),
    ...when(EXAMINED.socket, ...SOCKET),
    // `send` has its flags in the fourth argument, sendmsg(2) in the third.
    ...when(EXAMINED.sendto, load(argument(3)), skipUnless(ANY_BIT, MSG_FASTOPEN, 1), fail(EPERM), ALLOW),
    ...when(EXAMINED.sendmsg, load(argument(2)), skipUnless(ANY_BIT, MSG_FASTOPEN, 1), fail(EPERM), ALLOW),
    ...when(EXAMINED.sendmmsg, load(argument(3)), skipUnless(ANY_BIT, MSG_FASTOPEN, 1), fail(EPERM), ALLOW),
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
  load(argument(0)),
  [EQUAL, 2, 0, AF_INET],
  [EQUAL, 1, 0, AF_INET6],
  fail(EPERM),
  load(argument(1)),
  and(SOCKET_TYPE),
  [EQUAL, 1, 0, SOCK_STREAM],
  fail(EPERM),
  load(argument(2)),
  [EQUAL, 1, 0, 0],
  skipUnless(EQUAL, IPPROTO_TCP, 1),
  ALLOW,
  fail(EPERM),
];
