// Runs a program as a child and, for the service, restarts it after a crash. Plain JavaScript for any Node.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { createRelay, send } from './hand-over/relay.mjs';

const WINDOWS = process.platform === 'win32';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_INTERVAL_MS = 1_000;
/** Running streams have 30 s to finish (`drainSeconds`); a program that still runs then does not respond to signals. */
const KILL_AFTER_MS = 45_000;
/** Time of a service to release the table and its socket: it has no work to finish before. */
const HAND_OVER_TIMEOUT_MS = 30_000;
const BACKOFF = { initialDelayMs: 1_000, maxDelayMs: 60_000 };
/** A program that has run for this long restarts without the delays of earlier crashes. */
const STABLE_AFTER_MS = 60_000;
/** Exit codes of a program that ended by decision: in order, or after it has reported in one line why it cannot start. */
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
 * SIGUSR2 replaces such a program without a gap (`local/hand-over`): a new one starts, the running one hands over its socket
 * and ends with its last connection. If the new one does not start, the running one continues.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ readonly restarts?: boolean, readonly options?: import('node:child_process').SpawnOptions,
 *   readonly backoff?: { readonly initialDelayMs: number, readonly maxDelayMs: number } }} settings
 */
export function supervise(command, args, { restarts = false, options = {}, backoff = BACKOFF } = {}) {
  /** The program in charge. */
  let child;
  /** A program that replaces it once it is ready. */
  let successor;
  /** The listening socket, until the successor listens on it. */
  let socket;
  /** Programs that have handed over. They end with their last connection. */
  const former = new Set();
  const relay = createRelay(() => child);
  let crashes = 0;
  let isStopping = false;
  let exitCode;
  let restartTimer;

  const programs = () => [child, successor, ...former].filter((program) => program !== undefined);
  const endWhenDone = () => {
    if (exitCode !== undefined && programs().length === 0) process.exit(exitCode);
  };

  const spawnProgram = (role) => {
    const startedAt = performance.now();
    const program = spawn(command, args, restarts && !WINDOWS ? withChannel(options, role) : options);
    program.once('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      if (program !== successor) process.exit(1);
    });
    program.once('exit', (code, signal) => {
      relay.forget(program);
      if (program === child) onExit(code, signal, performance.now() - startedAt);
      else if (!former.delete(program)) {
        successor = undefined;
        if (!isStopping) logError('Service is not replaced; the running one continues', { exitCode: code, signal });
      }
      endWhenDone();
    });
    program.on('message', (message, handle) => onMessage(program, message, handle));
    return program;
  };

  const onExit = (code, signal, uptimeMs) => {
    child = undefined;
    if (successor?.isReady && !isStopping) return promote({});
    if (uptimeMs > STABLE_AFTER_MS) crashes = 0;
    const isDeliberate = code !== null && DELIBERATE_EXIT_CODES.slice(0, crashes > 0 ? 1 : 2).includes(code);
    if (!restarts || isStopping || isDeliberate || isStopSignal(code, signal)) {
      exitCode = exitCodeOf(code, signal);
      return;
    }
    crashes += 1;
    const delayMs = Math.min(backoff.maxDelayMs, backoff.initialDelayMs * 2 ** (crashes - 1));
    logError('Service exited unexpectedly; restarting', { exitCode: code, signal, crashes, restartInMs: delayMs });
    restartTimer = setTimeout(start, delayMs);
  };

  const start = () => {
    child = spawnProgram('first');
  };

  const onMessage = (program, { reelay, ...message }, handle) => {
    if (reelay === 'ready' && program === successor) {
      program.isReady = true;
      if (child) send(child, { reelay: 'hand-over' });
      else promote({});
      setTimeout(() => program === successor && program.kill('SIGKILL'), HAND_OVER_TIMEOUT_MS).unref();
    } else if (reelay === 'handed-over' && program === child) {
      former.add(child);
      child = undefined;
      socket = handle;
      // Without a successor, which has ended meanwhile, the service starts as after a crash.
      if (successor) promote(message);
      else onExit(null, null, 0);
      relay.release();
    } else if (reelay === 'listening') {
      socket?.close();
      socket = undefined;
    } else if (reelay === 'call') relay.call(program, message);
    else if (reelay === 'reply') relay.reply(message);
  };

  /** Puts the successor in charge. If it cannot start now, nothing else runs: it is restarted. */
  const promote = (address) => {
    child = successor;
    successor = undefined;
    crashes = Math.max(crashes, 1);
    send(child, { reelay: 'take-over', ...address }, socket);
  };

  const stop = (signal) => {
    isStopping = true;
    clearTimeout(restartTimer);
    exitCode ??= child ? undefined : exitCodeOf(null, signal);
    endWhenDone();
    for (const program of programs()) program.kill(signal);
    setTimeout(() => {
      for (const program of programs()) program.kill('SIGKILL');
    }, KILL_AFTER_MS).unref();
  };

  for (const signal of SIGNALS)
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole process group: the program has received it already.
      const isReceived = signal === 'SIGINT' && process.stdin.isTTY;
      if (!isReceived || !child) stop(signal);
      else isStopping = true;
    });
  if (restarts && !WINDOWS)
    process.on('SIGUSR2', () => {
      if (child && !successor && !isStopping) successor = spawnProgram('successor');
    });
  whenStarterEnds(() => stop('SIGTERM'));
  start();
}

/** The options with a channel for messages, and the role in which the program starts. */
const withChannel = ({ stdio = 'inherit', env = process.env, ...options }, role) => ({
  ...options,
  stdio: [...(Array.isArray(stdio) ? stdio : [stdio, stdio, stdio]), 'ipc'],
  env: { ...env, REELAY_HAND_OVER: role },
});

/** A second signal ends the program at once, with 128 and the number of the signal. */
const isStopSignal = (code, signal) =>
  SIGNALS.some((name) => name === signal || code === 128 + constants.signals[name]);

const exitCodeOf = (code, signal) => (signal ? 128 + constants.signals[signal] : (code ?? 1));

/** Same form as the lines of the service. */
function logError(msg, fields) {
  process.stderr.write(`${JSON.stringify({ level: 50, time: new Date().toISOString(), ...fields, msg })}\n`);
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
