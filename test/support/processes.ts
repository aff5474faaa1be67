import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ProcessRow {
  readonly pid: number;
  readonly command: string;
}

/** Processes that the one named started, and they in turn. The look itself is not among them. */
export async function descendantsOf(root: number): Promise<ProcessRow[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args=']);
  const rows = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  const family = new Set([root]);
  // A child may have a lower number than its parent: go round until nobody joins.
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent } of rows) if (family.has(parent)) family.add(pid);
  }
  return rows.filter(({ pid, command }) => pid !== root && family.has(pid) && !command.startsWith('ps '));
}

/** Command lines of the descendants of this process that run a program so named. */
export const descendants = async (program: string): Promise<string[]> =>
  (await descendantsOf(process.pid))
    .map(({ command }) => command)
    .filter((command) => command.split(' ')[0]?.endsWith(program));

/** Whether a process has this id; a zombie counts. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
