import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MAIN = resolve(import.meta.dirname, '../../local/demo.ts');
/** The demo's own, the same every time. */
const ORIGIN_PORT = 8090;
const folder = await temporaryFolder();

const listening = () => {
  const server = createServer().listen(ORIGIN_PORT, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined, // another process has it
  );
};
const probe = await listening();
probe?.close();

const start = (env: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: { ...NODE_ENVIRONMENT, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code]) => ({ code, lines }));
  return { child, lines, ended };
};

describe('npm run dev -- demo', () => {
  it('reports a taken port before any download', async () => {
    const other = await listening();
    expect(await start().ended).toEqual({ code: 1, lines: ['The address 127.0.0.1:8090 is taken'] });
    other?.close();
  });

  it.skipIf(!probe)('reports its shutdown at a signal, and exits', async () => {
    const hanging = join(folder, 'hanging-yt-dlp');
    const says =
      '*--version*) echo 2026.08.19;; *--help*) echo "--js-runtimes --plugin-dirs";; *) exec /bin/sleep 300;;';
    await writeFile(hanging, `#!/bin/sh\ncase "$*" in ${says} esac\n`, { mode: 0o755 });
    const { child, lines, ended } = start({ YT_DLP_PATH: hanging });
    await expect.poll(() => lines.join('\n')).toMatch(/Fetching yt-dlp/);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    expect(lines).toContain('Shutting down after running streams finish; repeat to exit at once');
  });
});
