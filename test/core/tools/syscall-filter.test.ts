import { describe, expect, it } from 'vitest';
import { type FilteredProgram, syscallFilter } from '../../../core/tools/process/syscall-filter.ts';

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 };
const ALLOWED = 0x7fff0000;
const refused = (errno: number) => 0x00050000 + errno;
const [EPERM, ENOSYS] = [refused(1), refused(38)];

/** Evaluates a filter as the kernel does (classic BPF): `struct seccomp_data` to the value that it returns. */
function evaluate(filter: Buffer, audit: number, number: number, args: readonly number[] = []): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, arg] of args.entries()) data.writeUInt32LE(arg, 16 + 8 * index);
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
const [STREAM, DATAGRAM, NON_BLOCKING] = [1, 2, 0o4000];

describe.each([
  ['x64', { read: 0, ptrace: 101, setsid: 112, kill: 62, clone: 56, socket: 41, sendto: 44 }],
  ['arm64', { read: 63, ptrace: 117, setsid: 157, kill: 129, clone: 220, socket: 198, sendto: 206 }],
] as const)('syscallFilter on %s', (architecture, { read, ptrace, setsid, kill, clone, socket, sendto }) => {
  const decide = (program: FilteredProgram, number: number, ...args: number[]) =>
    evaluate(syscallFilter(program, architecture) ?? Buffer.alloc(0), AUDIT[architecture], number, args);

  it.each([
    ['read', read, [], ALLOWED, ALLOWED],
    ['ptrace', ptrace, [], EPERM, EPERM],
    ['setsid', setsid, [], EPERM, EPERM],
    ['kill', kill, [1, 9], ALLOWED, EPERM],
    ['a thread', clone, [THREAD], ALLOWED, ALLOWED],
    ['a process', clone, [FORK], ALLOWED, EPERM],
    ['a process in a namespace', clone, [IN_USER_NAMESPACE | FORK], EPERM, EPERM],
    ['clone3', 435, [], ENOSYS, ENOSYS],
    ['a socket of TCP', socket, [INET, STREAM | NON_BLOCKING, 0], ALLOWED, ALLOWED],
    ['a socket of TCP over IPv6', socket, [INET6, STREAM, 6], ALLOWED, ALLOWED],
    ['a socket of Multipath TCP', socket, [INET, STREAM, 262], EPERM, EPERM],
    ['a socket of UDP', socket, [INET, DATAGRAM, 0], EPERM, EPERM],
    ['a socket in the file system', socket, [UNIX, STREAM, 0], EPERM, EPERM],
    ['a socket to the kernel', socket, [NETLINK, STREAM, 0], EPERM, EPERM],
    ['sending', sendto, [3, 0, 0, 0x4000], ALLOWED, ALLOWED],
    ['connecting by sending', sendto, [3, 0, 0, 0x20000000], EPERM, EPERM],
  ])('decides on %s', (_, number, args, forYtDlp, forFfmpeg) => {
    expect([decide('yt-dlp', number, ...args), decide('ffmpeg', number, ...args)]).toEqual([forYtDlp, forFfmpeg]);
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
