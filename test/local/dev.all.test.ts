import { utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { descendantsOf } from '../support/processes.ts';
import { useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const LOCAL = resolve(import.meta.dirname, '../../local');
const TIMEOUT_MS = 60_000;

const start = useStarted(await temporaryFolder());

describe('npm run dev', () => {
  it('serves the page with live reload and the API, restarts on a change, and leaves no process', async () => {
    const port = await freePort();
    // No download: the tools are not what is tested.
    const tools = { YT_DLP_PATH: '/nowhere/yt-dlp', FFMPEG_PATH: '/nowhere/ffmpeg' };
    const env = { HOST: '127.0.0.1', PORT: String(port), DATA_DIR: 'data', ...tools };
    const { process: dev, lines, ended } = start(env, [process.execPath, join(LOCAL, 'dev.ts')]);
    const said = () => lines.join('\n');
    const baseUrl = `http://127.0.0.1:${port}`;
    const wait = { timeout: TIMEOUT_MS, interval: 200 };
    await expect.poll(said, wait).toContain(`Reelay in development on ${baseUrl}`);
    await expect.poll(said, wait).toContain('API listening');

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
      if (!said().includes('Restarting')) await utimes(join(LOCAL, 'dev-service.ts'), new Date(), new Date());
      return said();
    };
    await expect.poll(touch, { ...wait, interval: 1000 }).toContain('Restarting');
    await expect.poll(() => said().split('API listening').length, wait).toBeGreaterThanOrEqual(3);
    await expect.poll(() => statusOf('/api/App'), wait).toBe(200);

    const processes = await descendantsOf(dev.pid ?? 0);
    expect(processes.length).toBeGreaterThan(1);
    dev.kill('SIGINT');
    expect(await ended).toBe(0);
    for (const { pid } of processes) expect(() => process.kill(pid, 0)).toThrow();
  });
});
