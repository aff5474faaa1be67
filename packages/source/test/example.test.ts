import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, '..');
const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) >> 8));
const media = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), bytes]);
const list = '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n/1\n#EXTINF:4,\n/2\n#EXT-X-ENDLIST\n';
const files = new Map([
  ['/file', bytes],
  ['/list.m3u8', Buffer.from(list)],
  ['/1', media],
  ['/2', media],
]);

it('is that of the README', () => {
  const example = readFileSync(join(FOLDER, 'example.ts'), 'utf8');
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``);
});

it.each([
  ['file', bytes],
  ['list.m3u8', Buffer.concat([media, media])],
])('loses no byte of /%s at a source that refuses a URL and drops connections', async (name, expected) => {
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
    const example = [join(FOLDER, 'example.ts'), `http://${host}/${name}`, host];
    const { stdout } = await promisify(execFile)(process.execPath, example, { encoding: 'buffer' });
    expect(stdout.equals(expected)).toBe(true);
    expect(drops).toBeGreaterThan(0);
  } finally {
    server.close();
  }
});
