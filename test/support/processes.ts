import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ProcessRow {
  readonly pid: number;
  /** The id of its parent. */
  readonly parent: number;
  /** Its arguments; of one that has ended and is not reaped, its name and `<defunct>`. */
  readonly command: string;
  /** The first of them. */
  readonly program: string;
}

/** All processes: on Linux the oldest first, and without a program of the system. */
export async function processes(): Promise<ProcessRow[]> {
  if (process.platform === 'linux') {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const rows = await Promise.all(names.map((name) => readProcess(name).catch(() => undefined)));
    // Ids start again at the lowest, and do not tell which process is newer.
    return rows.filter((row) => row !== undefined).sort((a, b) => a.startedAt - b.startedAt);
  }
  const { stdout } = await run('ps', ['-ww', '-eo', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    const [program = ''] = command?.split(' ') ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command, program }];
  });
}

/** proc(5). @throws Error when it has ended */
async function readProcess(name: string): Promise<ProcessRow & { readonly startedAt: number }> {
  const [stat, line] = await Promise.all(['stat', 'cmdline'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8')));
  const [, title, rest = ''] = /\((.*)\) (.*)/s.exec(stat ?? '') ?? [];
  const fields = rest.split(' ');
  const command = line?.replaceAll('\0', ' ').trim() || `[${title}]${fields[0] === 'Z' ? ' <defunct>' : ''}`;
  const [program = ''] = line?.split('\0') ?? [];
  return { pid: Number(name), parent: Number(fields[1]), command, program, startedAt: Number(fields[19]) };
}

/** Descendants of a process, without the one that lists them. */
export async function descendantsOf(root: number): Promise<ProcessRow[]> {
  const rows = await processes();
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
  (await descendantsOf(process.pid)).filter((row) => row.program.endsWith(program)).map(({ command }) => command);

/** Whether the process exists, zombies included. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
