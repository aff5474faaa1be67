import type { WorkerSandbox } from '../../core/tools/index.ts';
import { checkSandbox, type Sandbox } from '../../stream-service/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Versions of the kernel's interface to Landlock that restrict ports, and signals to other processes. */
const WITH_PORTS = 4;
const WITH_SIGNALS = 6;

export interface SandboxedTools {
  /** Path of FFmpeg. */
  readonly ffmpeg: string;
  /** Undefined where yt-dlp runs as a process per link, which does not say. */
  readonly ytDlp: WorkerSandbox | undefined;
}

/** What this system cannot withhold from FFmpeg and yt-dlp. Nothing elsewhere than on Linux, which has no such sandbox. */
export async function checkSandboxes(
  { ffmpeg, ytDlp }: SandboxedTools,
  platform = process.platform,
): Promise<Finding[]> {
  return platform === 'linux' ? [describeSandboxes(await checkSandbox(ffmpeg), ytDlp)] : [];
}

/** One line for both. */
export function describeSandboxes(ffmpeg: Sandbox, ytDlp: WorkerSandbox | undefined): Finding {
  const { ok, warning } = findingsOn('Sandbox');
  const missing = [...missingOfFfmpeg(ffmpeg), ...(ytDlp ? missingOfYtDlp(ytDlp) : [])];
  if (missing.length > 0) return warning(missing.join('; '));
  return ok(`FFmpeg reads no files${ytDlp ? ', yt-dlp only its own and it connects to its proxy alone' : ''}`);
}

function missingOfFfmpeg({ files, syscalls, privileges }: Sandbox): string[] {
  if (files && syscalls) return [];
  if (!privileges)
    return ['FFmpeg runs with all rights of this user: setpriv is missing, or this FFmpeg does not start in it'];
  const open = [...(files ? [] : ['files']), ...(syscalls ? [] : ['processes'])].join(' and ');
  return [`FFmpeg is not kept from ${open} of this user: needs util-linux 2.41, Linux 6.2 and no libraries of its own`];
}

function missingOfYtDlp({ landlock, seccomp }: WorkerSandbox): string[] {
  return [
    ...(landlock === 0 ? ['yt-dlp can read files of this user: the kernel has no Landlock'] : []),
    ...(landlock < WITH_PORTS ? ['yt-dlp can connect past the egress guard: needs Linux 6.7'] : []),
    ...(landlock < WITH_SIGNALS ? ['yt-dlp can signal processes of this user: needs Linux 6.12'] : []),
    ...(seccomp ? [] : ['system calls of yt-dlp are not filtered']),
  ];
}
