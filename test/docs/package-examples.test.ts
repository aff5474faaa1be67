import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { box, parseBoxes } from '../../packages/seekable-media/src/isobmff/index.ts';
import { movie } from '../../packages/seekable-media/test/seeds.ts';
import { installedTools } from '../support/installed-tools.ts';
import { withTemporaryFolder } from '../support/media-tools.ts';

const PACKAGES = join(import.meta.dirname, '../../packages');

/** Runs the example of a package. @returns its output */
const run = async (name: string, ...args: readonly string[]): Promise<Buffer> =>
  (await promisify(execFile)(process.execPath, [join(PACKAGES, name, 'example.ts'), ...args], { encoding: 'buffer' }))
    .stdout;

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) >> 8));
const media = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), bytes]);
const list = '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n/1\n#EXTINF:4,\n/2\n#EXT-X-ENDLIST\n';
const files = new Map([
  ['/file', bytes],
  ['/list.m3u8', Buffer.from(list)],
  ['/1', media],
  ['/2', media],
]);

describe('an example of a package', () => {
  it.each(readdirSync(PACKAGES))('is that of the README: %s', (name) => {
    const read = (file: string) => readFileSync(join(PACKAGES, name, file), 'utf8');
    expect(read('README.md')).toContain(`\`\`\`ts\n${read('example.ts')}\`\`\``);
  });

  it.each([
    ['concurrency', 'loads a name once for all who ask for it', "Loading a\nLoading b\n[ 'A', 'A', 'B' ]\n"],
    ['guarded-fetch', 'refuses a private address', 'Refused: Host is not on the public internet\n'],
  ])('that of %s %s', async (name, _, output) => {
    expect((await run(name)).toString()).toBe(output);
  });

  it('that of yt-dlp-worker starts a worker, which reaches no private address', async () => {
    const { ytDlp } = await installedTools();
    const output = await run('yt-dlp-worker', 'http://169.254.169.254/latest/meta-data', ...ytDlp.command);
    expect(output.toString()).toContain("kind: 'egress_refused'");
  });

  it('that of seekable-media makes one file of two', () =>
    withTemporaryFolder(async (folder) => {
      const paths = await Promise.all(
        (['vide', 'soun'] as const).map(async (kind) => {
          const path = join(folder, kind);
          await writeFile(path, Buffer.concat([movie(kind), box('mdat', Buffer.alloc(4_000, kind[0]))]));
          return path;
        }),
      );
      const output = await run('seekable-media', ...paths);
      const [fileType, header, media] = [...parseBoxes(output)];
      expect([fileType?.type, header?.type, media?.type, media?.end]).toEqual(['ftyp', 'moov', 'mdat', output.length]);
      expect(output.toString('latin1', media?.content)).toBe(`${'v'.repeat(10)}${'s'.repeat(10)}`.repeat(4));
    }));

  it.each([
    ['file', bytes],
    ['list.m3u8', Buffer.concat([media, media])],
  ])(
    'that of source loses no byte of /%s at a source that refuses a URL and drops connections',
    async (name, expected) => {
      let refusals = 0;
      let drops = 0;
      const server = createServer(({ url = '', headers: { range } }, response) => {
        const file = files.get(url) ?? Buffer.alloc(0);
        const [first = 0, last = file.length - 1] = (range?.match(/\d+/g) ?? []).map(Number);
        const body = file.subarray(first, last + 1);
        const size = { 'content-length': body.length };
        const part = { ...size, 'content-range': `bytes ${first}-${first + body.length - 1}/${file.length}` };
        if (refusals++ === 0) response.writeHead(410).end();
        else if (body.length > 200_000 && drops++ === 0)
          response
            .writeHead(range ? 206 : 200, range ? part : size)
            .write(body.subarray(0, 100_000), () => response.destroy());
        else response.writeHead(range ? 206 : 200, range ? part : size).end(body);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
        expect((await run('source', `http://${host}/${name}`, host)).equals(expected)).toBe(true);
        expect(drops).toBeGreaterThan(0);
      } finally {
        server.close();
      }
    },
  );
});
