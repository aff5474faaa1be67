import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const CHECK_INTERVAL_MS = 1_000;
/** A process that is stopped at four checks in a row is killed: within five seconds. */
const MAX_STOPPED_CHECKS = 3;

/** Watched processes, and at how many checks in a row each was stopped. */
const watched = new Map<ChildProcess, number>();
let timer: NodeJS.Timeout | undefined;

/**
 * Kills a child process (SIGKILL) once it has been stopped (SIGSTOP) for some seconds: it holds a slot, and whatever
 * waits for it would wait forever. The service itself never stops processes. Linux only; elsewhere it does nothing.
 */
export function killWhenStopped(child: ChildProcess): void {
  if (process.platform !== 'linux' || child.pid === undefined) return;
  watched.set(child, 0);
  timer ??= setInterval(check, CHECK_INTERVAL_MS).unref();
  child.once('exit', () => {
    watched.delete(child);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  });
}

function check(): void {
  for (const [child, stopped] of watched) {
    watched.set(child, isStopped(child.pid) ? stopped + 1 : 0);
    // Not `child.kill`, so that its owner sees a process that was killed from outside.
    if (stopped >= MAX_STOPPED_CHECKS && child.pid !== undefined) kill(child.pid);
  }
}

/** What proc_pid_stat(5) has of a process after the name of its program, which may contain anything. Empty where that cannot be known. */
function fieldsOf(pid: number | undefined): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // no such process, or no /proc
  }
}

/** Whether a process is stopped. False where that cannot be known. */
export const isStopped = (pid: number | undefined): boolean => fieldsOf(pid)[0] === 'T';

/** Clock ticks per second, `USER_HZ`: 100 on every Linux. */
const TICK_MS = 10;

/**
 * Processor time that a process has used, all threads and the kernel's work for it (`utime` and `stime`), in milliseconds.
 * Undefined where that cannot be known.
 */
export function cpuTimeMs(pid: number | undefined): number | undefined {
  const fields = fieldsOf(pid);
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** Paths of a program of util-linux. */
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];
const OPTIONS = ['--pdeathsig', 'KILL', '--no-new-privs', '--'];

let wrapper: readonly string[] | undefined;

/**
 * The beginning of a command line whose program is killed when this process ends, however it ends and whatever the
 * program is doing: a parser in an endless loop, or a stopped process, would otherwise never end. It gains no privileges
 * from programs that it runs (PR_SET_NO_NEW_PRIVS). Empty where the system has no `setpriv`.
 */
export function endWithParent(): readonly string[] {
  wrapper ??= findWrapper();
  return wrapper;
}

function findWrapper(): readonly string[] {
  const program = process.platform === 'linux' && SETPRIV.find((path) => existsSync(path));
  if (!program) return [];
  const { status } = spawnSync(program, [...OPTIONS, program, '--version'], { env: {}, stdio: 'ignore' });
  return status === 0 ? [program, ...OPTIONS] : [];
}
