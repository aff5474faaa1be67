import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { descendantsOf } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const LOCAL = resolve(import.meta.dirname, '../../local');
const TIMEOUT_MS = 60_000;

let child: ChildProcess | undefined;
afterEach(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

describe('npm run dev', () => {
  it('serves the page with live reload and the API, restarts on a change, and leaves no process', async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const started = spawn(process.execPath, [join(LOCAL, 'dev.ts')], {
      cwd: folder,
      // No download: the tools are not what is tested.
      env: {
        ...NODE_ENVIRONMENT,
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: join(folder, 'data'),
        YT_DLP_PATH: '/nowhere/yt-dlp',
        FFMPEG_PATH: '/nowhere/ffmpeg',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    let output = '';
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const baseUrl = `http://127.0.0.1:${port}`;
    const wait = { timeout: TIMEOUT_MS, interval: 200 };
    await expect.poll(() => output, wait).toContain(`Reelay in development on ${baseUrl}`);
    await expect.poll(() => output, wait).toContain('API listening');

    expect(await (await fetch(baseUrl)).text()).toContain('/@vite/client');
    // A body that is not read breaks `fetch` of Node.js 20 once the service restarts.
    const statusOf = async (path: string) => {
      const response = await fetch(baseUrl + path);
      await response.arrayBuffer();
      return response.status;
    };
    expect(await statusOf('/src/main.tsx')).toBe(200);
    expect(await (await fetch(`${baseUrl}/api/App`)).json()).toMatchObject({ isHealthy: false });
    expect(await statusOf('/swagger/v1/swagger.json')).toBe(200);

    // Touched again until it restarts: the watcher learns of a module a moment after the module has run. Not beyond that:
    // each touch starts it over.
    const touch = async () => {
      if (!output.includes('Restarting')) await utimes(join(LOCAL, 'dev-service.ts'), new Date(), new Date());
      return output;
    };
    await expect.poll(touch, { ...wait, interval: 1000 }).toContain('Restarting');
    await expect.poll(() => output.split('API listening').length, wait).toBeGreaterThanOrEqual(3);
    await expect.poll(() => statusOf('/api/App'), wait).toBe(200);

    const processes = await descendantsOf(started.pid ?? 0);
    expect(processes.length).toBeGreaterThan(1);
    started.kill('SIGINT');
    expect((await once(started, 'exit'))[0]).toBe(0);
    for (const { pid } of processes) expect(() => process.kill(pid, 0)).toThrow();
  });
});
