import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Lists of cores in the notation of taskset(1). */
interface Cores {
  /** The core whose time is shared fairly: the service and its children alone run there. */
  readonly service: string;
  /** All others: clients and origins. The same core where there is only one. */
  readonly clients: string;
}

/** Divides the cores that this process may use. */
export function divideCores(): Cores {
  const [, list = '0'] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const cores = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  const [service = 0, ...others] = cores;
  return { service: String(service), clients: others.length > 0 ? others.join() : String(service) };
}

/** Moves this process to some cores; those that it starts run there, too. @returns moves it back */
export function moveTo(cores: string): () => void {
  const set = (list: string) => execFileSync('taskset', ['--all-tasks', '-cp', list, String(process.pid)]);
  const [, before = cores] =
    /:\s*(\S+)\s*$/.exec(execFileSync('taskset', ['-cp', String(process.pid)]).toString()) ?? [];
  set(cores);
  return () => void set(before);
}

const CLOCK_TICKS = 100; // sysconf(_SC_CLK_TCK) on Linux

/** Seconds in which a core has not been idle (proc_stat(5)). */
export function busySeconds(core: string): number {
  const [, times = ''] = new RegExp(`^cpu${core} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'latin1')) ?? [];
  const ticks = times.split(' ').map(Number);
  // Without `idle` and `iowait`; `guest` is a part of `user`.
  return ticks.slice(0, 8).reduce((sum, each, index) => sum + ([3, 4].includes(index) ? 0 : each), 0) / CLOCK_TICKS;
}
