// Runs a program as a child and, for the service, restarts it after a crash. Plain JavaScript for any Node.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_INTERVAL_MS = 1_000;
/** Running streams have 30 s to finish (`drainSeconds`); a program that still runs then does not respond to signals. */
const KILL_AFTER_MS = 45_000;
const BACKOFF = { initialDelayMs: 1_000, maxDelayMs: 60_000 };
/** A program that has run for this long restarts without the delays of earlier crashes. */
const STABLE_AFTER_MS = 60_000;
/** Exit codes without a restart: 0 for an orderly end, 1 after the program has reported in one line why it cannot start. */
const DELIBERATE_EXIT_CODES = [0, 1];
const SHELLS = /^(?:ba|da|a|z|k)?sh$/;

/**
 * Runs a program until it ends, then exits with its exit code. SIGINT, SIGTERM and SIGHUP are forwarded. When the parent
 * of this process ends, or the npm that started it, the program gets SIGTERM: nothing would stop it otherwise.
 *
 * With `restarts`, a program that is killed by a signal or exits with another code than 0 and 1 is started again, with
 * exponential backoff. Once it has crashed, code 1 counts as a crash too: what it needs, such as the port, may still be in
 * use by what the crash left behind.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ readonly restarts?: boolean, readonly options?: import('node:child_process').SpawnOptions,
 *   readonly backoff?: { readonly initialDelayMs: number, readonly maxDelayMs: number } }} settings
 */
export function supervise(command, args, { restarts = false, options = {}, backoff = BACKOFF } = {}) {
  /** Undefined between a crash and the restart. */
  let child;
  let crashes = 0;
  let isStopping = false;
  let restartTimer;

  const start = () => {
    const startedAt = performance.now();
    child = spawn(command, args, options);
    child.once('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      process.exit(1);
    });
    child.once('exit', (code, signal) => onExit(code, signal, performance.now() - startedAt));
  };

  const onExit = (code, signal, uptimeMs) => {
    child = undefined;
    if (uptimeMs > STABLE_AFTER_MS) crashes = 0;
    const isDeliberate = code !== null && DELIBERATE_EXIT_CODES.slice(0, crashes > 0 ? 1 : 2).includes(code);
    if (!restarts || isStopping || isDeliberate || isStopSignal(code, signal)) process.exit(exitCodeOf(code, signal));
    crashes += 1;
    const delayMs = Math.min(backoff.maxDelayMs, backoff.initialDelayMs * 2 ** (crashes - 1));
    reportCrash({ exitCode: code, signal, crashes, restartInMs: delayMs });
    restartTimer = setTimeout(start, delayMs);
  };

  const stop = (signal) => {
    isStopping = true;
    clearTimeout(restartTimer);
    if (!child) process.exit(exitCodeOf(null, signal));
    child.kill(signal);
    setTimeout(() => child?.kill('SIGKILL'), KILL_AFTER_MS).unref();
  };

  for (const signal of SIGNALS)
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole process group: the program has received it already.
      const isReceived = signal === 'SIGINT' && process.stdin.isTTY;
      if (!isReceived || !child) stop(signal);
      else isStopping = true;
    });
  whenStarterEnds(() => stop('SIGTERM'));
  start();
}

/** A second signal ends the program at once, with 128 and the number of the signal. */
const isStopSignal = (code, signal) =>
  SIGNALS.some((name) => name === signal || code === 128 + constants.signals[name]);

const exitCodeOf = (code, signal) => (signal ? 128 + constants.signals[signal] : (code ?? 1));

/** Writes the line in the format of the service's log. */
function reportCrash(fields) {
  const msg = 'Service exited unexpectedly; restarting';
  const { exitCode, signal, restartInMs } = fields;
  const line =
    process.env.LOG_FORMAT?.toLowerCase() !== 'json'
      ? `Error: The service ended unexpectedly (${signal ?? `exit code ${exitCode}`}). It restarts in ${restartInMs / 1000} s.`
      : JSON.stringify({ level: 50, time: new Date().toISOString(), ...fields, msg });
  process.stderr.write(`${line}\n`);
}

/**
 * Calls back when the parent of this process has ended, or the npm above it: npm runs a script in a shell, to which it
 * passes on SIGTERM, and which ends without passing it on further.
 */
function whenStarterEnds(callback) {
  if (process.platform === 'win32') return;
  const parent = process.ppid;
  const npm = findNpm(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || isRunning(npm))) return;
    clearInterval(timer);
    callback();
  }, PARENT_CHECK_INTERVAL_MS);
  timer.unref();
}

/** The process id of npm when it runs this process in a shell. */
function findNpm(parent) {
  if (!process.env.npm_lifecycle_event) return undefined;
  const { name, ppid } = describeProcess(parent);
  return ppid > 1 && SHELLS.test(name) ? ppid : undefined;
}

function describeProcess(pid) {
  try {
    const [, name, ppid] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    return { name, ppid: Number(ppid) };
  } catch {
    const { stdout = '' } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' });
    const [, ppid, path = ''] = /^\s*(\d+)\s+(.*\S)/.exec(stdout) ?? [];
    return { name: path.replace(/^.*\//, '').replace(/^-/, ''), ppid: Number(ppid) };
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
