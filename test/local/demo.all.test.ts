import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { ffmpegPath } from '../support/on-path.ts';
import { useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MAIN = resolve(import.meta.dirname, '../../local/demo.ts');

/** Takes a port, unless another process has it. */
async function take(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  closeAfterwards(server);
  await once(server, 'listening').catch(() => undefined);
}

const start = useStarted(await temporaryFolder());

describe('npm run dev -- demo', () => {
  it('finds other ports where its own are taken, and says its address first', async () => {
    await Promise.all([take(8080), take(8090)]);
    // Of its own choice.
    const {
      process: demo,
      lines,
      ended,
    } = start({ PORT: undefined, FFMPEG_PATH: ffmpegPath() }, [process.execPath, MAIN]);
    await expect.poll(() => lines.join('\n'), { timeout: 120_000 }).toMatch(/^ {2}http.*long\.mp4 {2}A file$/m);
    const [, address = ''] = /^Reelay listening on (http:\S+);/.exec(lines[0] ?? '') ?? [];
    const [, link = ''] = /^ {2}(http\S+long\.mp4)/m.exec(lines.join('\n')) ?? [];
    expect([address, link]).not.toEqual(expect.arrayContaining([expect.stringMatching(/:80[89]0\b/)]));
    const resource = await fetch(`${address}/api/Fetch/GetResource?url=${link}`);
    expect(resource.status).toBe(200);
    expect(await resource.json()).toMatchObject({ mediaItems: [expect.anything()] });
    // The start page links to some.
    const { headers } = await fetch(`${address}/api/App`);
    expect(headers.get('link')?.match(/; rel="example"; title="/g)).toHaveLength(3);
    demo.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(lines).toContain('Shutting down after running streams finish; repeat to exit at once');
  });
});
