import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { ffmpegPath } from '../support/on-path.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MAIN = resolve(import.meta.dirname, '../../local/demo.ts');
const folder = await temporaryFolder();

/** Takes a port, unless another process has it. */
async function take(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  closeAfterwards(server);
  await once(server, 'listening').catch(() => undefined);
}

const start = (env: NodeJS.ProcessEnv) => {
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: { ...NODE_ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code]) => code);
  return { child, lines, ended };
};

describe('npm run dev -- demo', () => {
  it('finds other ports where its own are taken, and says its address first', async () => {
    await Promise.all([take(8080), take(8090)]);
    const { child, lines, ended } = start({ FFMPEG_PATH: ffmpegPath() });
    await expect.poll(() => lines.join('\n'), { timeout: 120_000 }).toMatch(/^ {2}http.*long\.mp4 {2}A file$/m);
    const [, address = ''] = /^Reelay listening on (http:\S+);/.exec(lines[0] ?? '') ?? [];
    const [, link = ''] = /^ {2}(http\S+long\.mp4)/m.exec(lines.join('\n')) ?? [];
    expect([address, link]).not.toEqual(expect.arrayContaining([expect.stringMatching(/:80[89]0\b/)]));
    const resource = await fetch(`${address}/api/Fetch/GetResource?url=${link}`);
    expect(resource.status).toBe(200);
    expect(await resource.json()).toMatchObject({ mediaItems: [expect.anything()] });
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(lines).toContain('Shutting down after running streams finish; repeat to exit at once');
  });
});
