import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { reportCrash } from '../support/crash-reports.ts';
import { shellQuote } from '../support/shell-quote.ts';
import type { Image } from './image.ts';

interface ContainerOptions {
  /** Added to the variables of the image. */
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the image's. */
  readonly command?: readonly string[];
  /** `UID:GID` instead of the image's. */
  readonly user?: string;
  /** Folders of this machine by their path in the container, as new volumes are: with the owner and mode of the image. */
  readonly volumes?: Readonly<Record<string, string>>;
  /** The same, read-only. */
  readonly mounts?: Readonly<Record<string, string>>;
}

/**
 * Runs an image as a container engine does with a read-only root: as the image's user and without capabilities, in a mount
 * and a process namespace of its own, as process 1. It shares the network of this machine, so that tests reach it, and it
 * them, on loopback.
 */
export async function startContainer(image: Image, options: ContainerOptions = {}): Promise<Container> {
  const { env = {}, command = image.config.Cmd, volumes = {}, mounts = {} } = options;
  const [owner, ownerGroup = owner] = image.config.User.split(':');
  const [user, group = user] = (options.user ?? image.config.User).split(':');
  for (const [inside, folder] of Object.entries(volumes)) {
    await chown(folder, Number(owner), Number(ownerGroup));
    await chmod(folder, (await stat(join(image.root, inside))).mode & 0o7777);
  }
  const binds = [...Object.entries(volumes), ...Object.entries(mounts)];
  const variables = [...image.config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const script = [
    'set -e',
    'mount --make-rprivate /',
    'mount --bind "$ROOT" "$ROOT"',
    'mount -t proc proc "$ROOT/proc"',
    'mount --rbind /dev "$ROOT/dev"',
    ...binds.map(([inside, folder]) => `mount --bind '${folder}' "$ROOT${inside}"`),
    ...Object.keys(mounts).map((inside) => `mount -o remount,bind,ro "$ROOT${inside}"`),
    'mount -o remount,bind,ro "$ROOT"',
    'if touch "$ROOT/written" 2>/dev/null; then echo "The root is writable" >&2; exit 1; fi',
    `set -- /usr/bin/setpriv --reuid=${user} --regid=${group} --clear-groups --no-new-privs --bounding-set=-all "$@"`,
    // The environment and the path of the image: setpriv finds the program on it.
    `exec env -i ${variables.map(shellQuote).join(' ')} "$CHROOT" "$ROOT" "$@"`,
  ];
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script.join('\n'), 'sh', ...command],
    {
      env: { PATH: process.env.PATH, ROOT: image.root, CHROOT: '/usr/sbin/chroot' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  return new Container(child, () => firstChildOf(child));
}

/** Flags of Node for a health check, whose time limit is not meant for an emulated processor or a busy machine. */
export const WITHOUT_TIMEOUT = [
  ...['--import', 'data:text/javascript,AbortSignal.timeout = () => new AbortController().signal'],
];

/** The end of what Node writes about an uncaught exception, and the message of the service for one machine. */
const UNCAUGHT = /^Node\.js v\d|(?:"msg":"|^Error: )Service failed/m;

/** A running container, and its log lines: JSON as objects, other lines as `msg`. */
export class Container {
  readonly lines: Record<string, unknown>[] = [];
  /** Settles with the exit code once it has ended. */
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #findPid: () => number;
  #stderr = '';
  #tell = Promise.withResolvers<void>();

  /** @param findPid of process 1, where that is not the child process itself */
  constructor(process: ChildProcess, findPid = () => process.pid ?? 0) {
    this.#process = process;
    this.#findPid = findPid;
    this.ended = once(process, 'close').then(([code]) => {
      if (UNCAUGHT.test(this.#stderr)) reportCrash(this.#stderr);
      return code;
    });
    const { stdout, stderr } = process;
    if (!stdout || !stderr) throw new Error('No output');
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    createInterface(stdout).on('line', (line) => {
      this.lines.push(parseLine(line));
      this.#tell.resolve();
      this.#tell = Promise.withResolvers();
    });
  }

  /** Process 1 of the container, as this machine numbers it. */
  get pid(): number {
    return this.#findPid();
  }

  /** What it has written to stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Waits for a log line with this message and these fields. @throws when the process ends first */
  async said(pattern: RegExp, fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.lines.find(
        (line) =>
          pattern.test(String(line.msg)) && Object.entries(fields).every(([name, value]) => line[name] === value),
      );
      if (found) return found;
      const end = await Promise.race([this.#tell.promise, this.ended.then(() => 'ended')]);
      if (end) throw new Error(`It ended: ${JSON.stringify(this.lines)} ${this.#stderr}`);
    }
  }

  /** Sends a signal to process 1. */
  kill(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Ends every process of the container. */
  async end(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.kill('SIGKILL');
    await this.ended;
  }
}

/** unshare stays the parent of process 1. */
function firstChildOf({ pid = 0 }: ChildProcess): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return Number.parseInt(children, 10) || pid;
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}
