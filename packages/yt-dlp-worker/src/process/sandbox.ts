import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** What confines a process on Linux. */
export interface Sandbox {
  /** Version of the interface of Landlock: 0 without it. */
  readonly landlock: number;
  /** Whether system calls are filtered. */
  readonly seccomp: boolean;
  /** Whether Landlock keeps it from files: not from a program with libraries of its own. @default true */
  readonly hasFiles?: boolean;
}

/** CAP_DAC_READ_SEARCH of linux/capability.h, as a mask. */
const READ_SEARCH = 1 << 2;

/**
 * The capabilities without which root cannot read these files, as a mask: one where a folder is for another user alone, such as
 * the home folder of who has installed the service. Landlock still restricts what is read.
 */
export const neededCapabilities = (files: readonly string[]): number =>
  process.geteuid?.() === 0 && files.some((file) => isClosed(dirname(file))) ? READ_SEARCH : 0;

function isClosed(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats && (stats.mode & (stats.uid === 0 ? 0o100 : 0o001)) === 0) return true;
  return folder !== dirname(folder) && isClosed(dirname(folder));
}

/** Versions of the interface that restrict ports, and signals to other processes. */
const WITH_PORTS = 4;
const WITH_SIGNALS = 6;

/** What this system cannot withhold from a program. @param sandbox undefined where nothing confines it */
export function missingFrom(program: string, sandbox: Sandbox | undefined, platform = process.platform): string[] {
  if (platform !== 'linux') return [`${program} runs without a sandbox: only Linux has one`];
  if (!sandbox) return [`${program} runs without a sandbox: there is no Perl, or it does not start in one`];
  const { landlock, seccomp, hasFiles = true } = sandbox;
  if (landlock === 0 && !seccomp)
    return [`${program} runs without a sandbox: the kernel has neither Landlock nor seccomp`];
  return [
    ...(landlock === 0 || !hasFiles
      ? [`${program} can read files of this user: needs Landlock (Linux 5.13), and no libraries of its own`]
      : []),
    ...(landlock < WITH_PORTS ? [`${program} can connect past the egress guard: needs Linux 6.7`] : []),
    ...(landlock < WITH_SIGNALS && !seccomp ? [`${program} can signal processes of this user: needs Linux 6.12`] : []),
    ...(seccomp ? [] : [`system calls of ${program} are not filtered`]),
  ];
}
