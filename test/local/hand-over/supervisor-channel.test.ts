import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CHANNEL = pathToFileURL(resolve(import.meta.dirname, '../../../local/hand-over/supervisor-channel.ts')).href;

/** Calls the service in charge, at once or after the supervisor has ended, and prints the outcome. */
const SERVICE = `
  import { connectSupervisor } from ${JSON.stringify(CHANNEL)};
  const channel = connectSupervisor();
  if (process.argv[2] === 'late') await new Promise((resolve) => process.once('disconnect', resolve));
  await channel.call('get', ['key']).then(
    (value) => console.log('value', value),
    (error) => console.log(error.name, error.message),
  );
  if (process.connected) process.disconnect();
`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reelay-channel-'));
  await writeFile(join(folder, 'service.mjs'), SERVICE);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The output of a service, and its exit code. */
async function run(supervise: (service: ChildProcess) => unknown, ...args: string[]) {
  const service = fork(join(folder, 'service.mjs'), args, {
    env: { REELAY_HAND_OVER: 'first' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { stdout, stderr } = service;
  if (!stdout || !stderr) throw new Error('No output');
  supervise(service);
  const [output, errors, [code]] = await Promise.all([text(stdout), text(stderr), once(service, 'exit')]);
  return { output, errors, code };
}

describe('connectSupervisor', () => {
  it('rejects a call without a service in charge', async () => {
    const reply = (service: ChildProcess) =>
      service.once('message', ({ id }: { id: string }) => service.send({ reelay: 'reply', id }));
    expect(await run(reply)).toEqual({ output: 'Error No service is in charge\n', errors: '', code: 0 });
  });

  it('rejects a call in progress when the supervisor ends', async () => {
    const end = (service: ChildProcess) => service.once('message', () => service.disconnect());
    expect(await run(end)).toEqual({ output: 'Error The supervisor has ended\n', errors: '', code: 0 });
  });

  it('rejects a call once after the supervisor has ended', async () => {
    expect(await run((service) => service.disconnect(), 'late')).toEqual({
      output: 'Error Channel closed\n',
      errors: '',
      code: 0,
    });
  });
});
