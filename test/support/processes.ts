import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { needs } from './clients.ts';

const run = promisify(execFile);
/** Ids start again at the lowest, and do not tell which process is newer. */
const OLDEST_FIRST = process.platform === 'linux' ? ['--sort=start_time'] : [];

export interface ProcessRow {
  readonly pid: number;
  readonly command: string;
}

/** Descendants of a process, without the process that lists them: on Linux the oldest first. */
export async function descendantsOf(root: number): Promise<ProcessRow[]> {
  needs('ps');
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args=', ...OLDEST_FIRST]);
  const rows = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  const family = new Set([root]);
  // A child may have a lower id than its parent: repeat until no process is added.
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent } of rows) if (family.has(parent)) family.add(pid);
  }
  return rows.filter(({ pid, command }) => pid !== root && family.has(pid) && !command.startsWith('ps '));
}

/** Command lines of the descendants of this process that run `program`. */
export const descendants = async (program: string): Promise<string[]> =>
  (await descendantsOf(process.pid))
    .map(({ command }) => command)
    .filter((command) => command.split(' ')[0]?.endsWith(program));

/** Whether the process exists, zombies included. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
