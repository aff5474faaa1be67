import { runCommandLine } from './run.ts';

/** Runs the command line as this process. */
export async function runProgram(version: string): Promise<void> {
  const interrupted = new AbortController();
  // Once: a second signal ends the process at once, with what was received so far in place.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const { stdout, stderr, env: environment } = process;
  // A reader that ends early is reported by the write that fails.
  stdout.on('error', () => undefined);
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    stdout,
    stderr,
    environment,
    version,
    signal: interrupted.signal,
  });
}
