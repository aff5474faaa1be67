import { describe, expect, it } from 'vitest';
import { type ConfinedProgram, syscallFilter } from '../src/process/syscall-filter.ts';

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 };
const ALLOWED = 0x7fff0000;
const refused = (errno: number) => 0x00050000 + errno;
const [EPERM, ENOSYS] = [refused(1), refused(38)];

/** Evaluates a filter as the kernel does (classic BPF): `struct seccomp_data` to the value that it returns. */
function evaluate(filter: Buffer, audit: number, number: number, args: readonly number[] = []): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, arg] of args.entries()) data.writeBigUInt64LE(BigInt(arg), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; ; at += 8) {
    const [code, ifTrue, ifFalse, value] = [
      filter.readUInt16LE(at),
      filter[at + 2] ?? 0,
      filter[at + 3] ?? 0,
      filter.readUInt32LE(at + 4),
    ];
    const jump = (isTrue: boolean) => 8 * (isTrue ? ifTrue : ifFalse);
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator &= value;
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else if (code === 0x45) at += jump((accumulator & value) !== 0);
    else throw new Error(`Unknown instruction ${code}`);
  }
}

const [THREAD, FORK, IN_USER_NAMESPACE] = [0x3d0f00, 17, 0x10000000];
const [UNIX, INET, NETLINK, INET6] = [1, 2, 16, 10];
const [STREAM, DATAGRAM, SEQUENCED_PACKET, NON_BLOCKING] = [1, 2, 5, 0o4000];
const [DEVICE, FILE] = [0o020600, 0o100600];

/** Numbers of calls on x86-64 and on ARM64. */
const CALLS = {
  read: [0, 63],
  ptrace: [101, 117],
  setsid: [112, 157],
  kill: [62, 129],
  tgkill: [234, 131],
  prctl: [157, 167],
  clone: [56, 220],
  socket: [41, 198],
  socketpair: [53, 199],
  sendto: [44, 206],
  mknod: [133, 33],
  mknodat: [259, 33],
  listen: [50, 201],
  accept4: [288, 242],
  bind: [49, 200],
  prlimit64: [302, 261],
  setpriority: [141, 140],
  sched_setaffinity: [203, 122],
  ioprio_set: [251, 30],
  fcntl: [72, 25],
  ioctl: [16, 29],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchownat: [260, 54],
  utimensat: [280, 88],
  setxattr: [188, 5],
  truncate: [76, 45],
  memfd_create: [319, 279],
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  mq_open: [240, 180],
  statx: [332, 291],
} as const;

describe.each([
  ['x64', 0],
  ['arm64', 1],
] as const)('syscallFilter on %s', (architecture, column) => {
  const read = CALLS.read[column];
  const decide = (program: ConfinedProgram, call: keyof typeof CALLS | number, args: readonly number[]) => {
    const number = typeof call === 'number' ? call : CALLS[call][column];
    return evaluate(syscallFilter(program, architecture) ?? Buffer.alloc(0), AUDIT[architecture], number, args);
  };

  it.each([
    ['reading', 'read', [], ALLOWED, ALLOWED],
    ['asking for a file', 'statx', [], ALLOWED, ALLOWED],
    ['tracing', 'ptrace', [], EPERM, EPERM],
    ['leaving the session', 'setsid', [], EPERM, EPERM],
    ['a signal to a process', 'kill', [1, 9], EPERM, EPERM],
    ['a signal to all processes', 'kill', [0xffffffff, 9], EPERM, EPERM],
    ['a signal to its group', 'kill', [0, 9], ALLOWED, EPERM],
    ['a signal to a thread', 'tgkill', [1, 1, 9], EPERM, EPERM],
    ['a thread', 'clone', [THREAD], ALLOWED, ALLOWED],
    ['a process', 'clone', [FORK], ALLOWED, EPERM],
    ['a process in a namespace', 'clone', [IN_USER_NAMESPACE | FORK], EPERM, EPERM],
    ['its name', 'prctl', [15], ALLOWED, ALLOWED],
    ['hiding its descriptors', 'prctl', [4], EPERM, EPERM],
    ['its own limits', 'prlimit64', [0], ALLOWED, ALLOWED],
    ['the limits of another process', 'prlimit64', [7], EPERM, EPERM],
    ['priorities', 'setpriority', [0, 7], EPERM, EPERM],
    ['processors', 'sched_setaffinity', [7], EPERM, EPERM],
    ['priorities of input and output', 'ioprio_set', [1, 7], EPERM, EPERM],
    ['flags of a descriptor', 'fcntl', [3, 4], ALLOWED, ALLOWED],
    ['whom a descriptor signals', 'fcntl', [3, 8], EPERM, EPERM],
    ['what a descriptor signals', 'fcntl', [3, 10], EPERM, EPERM],
    ['the bytes to be read', 'ioctl', [3, 0x541b], ALLOWED, ALLOWED],
    ['typing into a terminal', 'ioctl', [3, 0x5412], EPERM, EPERM],
    ['modes of descriptors', 'fchmod', [], EPERM, EPERM],
    ['modes', 'fchmodat', [], EPERM, EPERM],
    ['owners', 'fchownat', [], EPERM, EPERM],
    ['times', 'utimensat', [], EPERM, EPERM],
    ['attributes', 'setxattr', [], EPERM, EPERM],
    ['sizes by path', 'truncate', [], EPERM, EPERM],
    ['files in memory', 'memfd_create', [], EPERM, EPERM],
    ['shared memory', 'shmget', [], EPERM, EPERM],
    ['semaphores', 'semget', [], EPERM, EPERM],
    ['queues', 'msgget', [], EPERM, EPERM],
    ['named queues', 'mq_open', [], EPERM, EPERM],
    ['binding', 'bind', [], EPERM, EPERM],
    ['listening', 'listen', [], EPERM, EPERM],
    ['accepting', 'accept4', [], EPERM, EPERM],
    ['clone3', 435, [], ENOSYS, ENOSYS],
    ['opening a process', 434, [], ENOSYS, ENOSYS],
    ['submission queues', 425, [], ENOSYS, ENOSYS],
    ['modes in the newest form', 452, [], ENOSYS, ENOSYS],
    ['a call that does not exist yet', 900, [], ENOSYS, ENOSYS],
    ['closing several descriptors', 436, [], ALLOWED, ALLOWED],
    ['a socket of TCP', 'socket', [INET, STREAM | NON_BLOCKING, 0], ALLOWED, ALLOWED],
    ['a socket of TCP over IPv6', 'socket', [INET6, STREAM, 6], ALLOWED, ALLOWED],
    ['a socket of Multipath TCP', 'socket', [INET, STREAM, 262], EPERM, EPERM],
    ['a socket of UDP', 'socket', [INET, DATAGRAM, 0], EPERM, EPERM],
    ['a socket in the file system', 'socket', [UNIX, STREAM, 0], EPERM, EPERM],
    ['a socket to the kernel', 'socket', [NETLINK, STREAM, 0], EPERM, EPERM],
    ['sending', 'sendto', [3, 0, 0, 0x4000], ALLOWED, ALLOWED],
    ['connecting by sending', 'sendto', [3, 0, 0, 0x20000000, 8], EPERM, EPERM],
    ['sending to an address', 'sendto', [3, 0, 0, 0, 2 ** 32], EPERM, EPERM],
    ['a pair of streams', 'socketpair', [UNIX, STREAM | NON_BLOCKING], ALLOWED, ALLOWED],
    ['a pair for datagrams', 'socketpair', [UNIX, DATAGRAM | NON_BLOCKING], EPERM, EPERM],
    ['a pair for packets', 'socketpair', [UNIX, SEQUENCED_PACKET], EPERM, EPERM],
    ['a device', 'mknodat', [3, 0, DEVICE], EPERM, EPERM],
    ['a device in the older form', 'mknod', [0, DEVICE, DEVICE], EPERM, EPERM],
    ['a file without opening it', 'mknodat', [3, 0, FILE], ALLOWED, ALLOWED],
    ['a file by its mode alone', 'mknodat', [3, 0, 0o600], ALLOWED, ALLOWED],
  ] as const)('decides on %s', (_, call, args, forYtDlp, forFfmpeg) => {
    expect([decide('yt-dlp', call, args), decide('ffmpeg', call, args)]).toEqual([forYtDlp, forFfmpeg]);
  });

  it('refuses calls of other architectures', () => {
    const filter = syscallFilter('yt-dlp', architecture) ?? Buffer.alloc(0);
    expect(evaluate(filter, 0x40000003, read)).toBe(EPERM);
    expect(evaluate(filter, AUDIT.x64, 0x40000000 + 62)).toBe(EPERM);
  });
});

describe('syscallFilter', () => {
  it('is absent for a processor without a table', () => expect(syscallFilter('yt-dlp', 'riscv64')).toBeUndefined());
});
