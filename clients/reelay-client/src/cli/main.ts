#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { run } from './run.ts';

const interrupted = new AbortController();
// Once: a second signal ends the process at once, with what was received so far in place.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const { stdout, stderr, env: environment } = process;
// A reader that ends early is reported by the write that fails.
stdout.on('error', () => undefined);
process.exitCode = await run(process.argv.slice(2), {
  stdout,
  stderr,
  environment,
  version,
  signal: interrupted.signal,
});
