import { afterAll, expect, vi } from 'vitest';
import { endFile } from './after-file.ts';
import { takeCrashReports, watchCrashes } from './crash-reports.ts';
import { watchLeftovers } from './leftovers.ts';
import { keepPriorities } from './priorities.ts';

// Vitest runs this before each file, so its hook is the last one of the file.
const findLeftovers = watchLeftovers();
watchCrashes();
keepPriorities();
// Vitest compares buffers byte by byte: half a second for 2 MB.
expect.addEqualityTesters([(a, b) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : undefined)]);
const environment = { ...process.env };
const directory = process.cwd();

afterAll(async () => {
  await endFile();
  // The next file of this worker shares the process.
  vi.useRealTimers();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  for (const [name, value] of Object.entries(environment)) if (process.env[name] !== value) process.env[name] = value;
  expect(process.cwd(), 'the working directory').toBe(directory);
  expect(await findLeftovers(), 'what the file has left open').toEqual([]);
  expect(takeCrashReports(), 'uncaught exceptions of processes that the file has started').toEqual([]);
});
