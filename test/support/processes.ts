import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Command lines of the processes that this one started, and they in turn, that run a program so named. */
export async function descendants(program: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args=']);
  const rows = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  const family = new Set([process.pid]);
  // A child may have a lower number than its parent: go round until nobody joins.
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent } of rows) if (family.has(parent)) family.add(pid);
  }
  return rows
    .filter(({ pid, command }) => family.has(pid) && command.split(' ')[0]?.endsWith(program))
    .map(({ command }) => command);
}
