import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeCrashReports } from '../support/crash-reports.ts';
import { descendantsOf, isRunning } from '../support/processes.ts';
import { MAIN, Started, useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = await temporaryFolder();
const start = useStarted(folder);

describe('npm start', () => {
  it('ends when its supervisor is killed', async () => {
    const command = `REELAY_SUPERVISOR_PID=$$ ${process.execPath} ${MAIN} & wait`;
    const service = start({ DATA_DIR: 'data' }, ['/bin/sh', '-c', command]);
    await service.line(/^Ready: /);
    const children = await descendantsOf(service.process.pid ?? 0);
    service.process.kill('SIGKILL');
    await service.line(/^Shutting down/);
    for (const { pid } of children) await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('exits with 70 after an error of its own, for the supervisor to restart it, and leaves no temporary file', async () => {
    const failing = "data:text/javascript,process.on('SIGUSR2', () => { throw new Error('Bug') })";
    const TMPDIR = await mkdtemp(join(folder, 'tmp-'));
    const service = start({ DATA_DIR: 'data', TMPDIR }, [process.execPath, '--import', failing, MAIN]);
    await service.line(/^Ready: /);
    service.process.kill('SIGUSR2');
    expect(await service.ended).toBe(70);
    expect(takeCrashReports()).toEqual([expect.stringContaining('Error: Bug')]);
    expect(await readdir(TMPDIR)).toEqual([]);
  });

  it('leaves no temporary file when all of its processes are signalled, and the supervisor passes its signal on', async () => {
    const TMPDIR = await mkdtemp(join(folder, 'tmp-'));
    const service = start({ DATA_DIR: 'data', TMPDIR });
    await service.line(/^Ready: /);
    for (const { pid } of await descendantsOf(service.process.pid ?? expect.fail('It does not run')))
      process.kill(pid, 'SIGTERM');
    // Of the same kind, they would be one signal for the system.
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) service.process.kill(signal);
    expect(await service.ended).toBe(0);
    expect(await readdir(TMPDIR)).toEqual([]);
  });

  it('exits on SIGTERM during a smoke test', async () => {
    const hanging = join(folder, 'hanging-yt-dlp');
    const says =
      '--version*) echo 2026.08.19;; *--help*) echo "--js-runtimes --plugin-dirs";; *) : >begun; exec /bin/sleep 300';
    await writeFile(hanging, `#!/bin/sh\ncase "$*" in *${says};; esac\n`.replace('begun', join(folder, 'begun')), {
      mode: 0o755,
    });
    const service = start({ DATA_DIR: 'hanging', YT_DLP_PATH: hanging });
    await expect.poll(() => existsSync(join(folder, 'begun'))).toBe(true);
    service.process.kill('SIGTERM');
    // Before the smoke test, which hangs, has ended.
    await service.ended;
  });

  it('reports a taken address in one line and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const service = start({ PORT: String(port), DATA_DIR: 'data' });
    expect(await service.ended).toBe(1);
    expect(service.lines).toEqual([expect.stringMatching(new RegExp(`^Port ${port} is taken: set PORT=[1-9]\\d*$`))]);
    other.close();
  });

  it('reports the address of a service that uses the same data folder, and exits with 1', async () => {
    const first = start({ DATA_DIR: 'data' });
    const baseUrl = await first.baseUrl();
    const second = new Started(folder, { DATA_DIR: 'data' });
    expect(await second.ended).toBe(1);
    expect(second.lines).toEqual([`Already running at ${baseUrl}`]);
  });
});
