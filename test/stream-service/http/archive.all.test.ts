import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSource } from '@reelay/source';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  centralDirectory,
  dataDescriptor,
  localHeader,
  storedBytes,
  zipBytes,
} from '../../../packages/seekable-media/src/zip.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { isThere } from '../../support/on-path.ts';
import { openResponse } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { archivedList, expectSized, failingSource, trackOf, until } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { sha256 } from '../source/upstream.ts';
import {
  BYTES_PER_ENTRY,
  bytesOf,
  extract,
  extractFromPipe,
  smugglingFile,
  startArchive as start,
  THREE,
} from './archive-fixture.ts';

/** An entry of unknown length. @param cutAt where reading it fails */
const unsized = (index: number, cutAt?: number) => ({
  isUnsized: true,
  source: fileSource(bytesOf(index), { sized: false, ...(cutAt && { cutAt }) }),
});

describe('an archive of entries with lengths', () => {
  it('has an announced length, and is read by other programs', async () => {
    const { get, touched } = await start([{}, {}, {}]);
    const { status, headers, body } = await get();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-length': String(body.length),
      'content-type': 'application/zip',
      'content-disposition': expect.stringContaining('filename="A list.zip"'),
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
    });
    const { names, hashes, index } = await extract(body);
    expect(names).toEqual([...THREE, 'A list/index.txt']);
    expect(hashes.slice(0, 3)).toEqual([0, 1, 2].map((at) => sha256(bytesOf(at))));
    expect(index).toContain('\n3 of 3.\n');
    expect(index).toContain('https://site.example/1');
    expect(touched).toEqual([archivedList([]).id]);
  });

  it('continues at any byte, with a strong ETag where every entry has one', async () => {
    // Of an unknown size: it is read from the open source, with the validator.
    const { url } = await start([{ isUnsized: true }, { isUnsized: true }, { isUnsized: true }]);
    const records = 30 + (THREE[0]?.length ?? 0);
    const blocks = storedBytes(BYTES_PER_ENTRY);
    const starts = [records - 1, records, records + 4, records + 5, 65_540 + records, records + blocks - 5, 450_123];
    const edges = [...starts.map((first) => [first, first + 1000] as const), [199_000, 401_000] as const];
    await expectSeekable(url(), { edges, cache: 'no-store' });
  });

  it('sends any range as that slice of the whole, also by a service that has not sent the whole', async () => {
    // Its last block is full.
    const size = 65_535;
    const tracks = [trackOf('file-1', { sizeIsExact: true, sizeBytes: size })];
    const source: OpenSource = async () => fileSource(bytesOf(1, size));
    const entries = [{}, { source, resource: { tracks } }, {}];
    const whole = (await (await start(entries)).get()).body;
    const { get } = await start(entries);
    const offset = fc.nat(whole.length - 1);
    await fc.assert(
      fc.asyncProperty(offset, offset, async (...ends) => {
        const [first, last] = [Math.min(...ends), Math.max(...ends)];
        const { body } = await get('', { range: `bytes=${first}-${last}` });
        expect(body.equals(whole.subarray(first, last + 1))).toBe(true);
      }),
      { numRuns: 50 },
    );
    const fresh = await start(entries);
    const end = await fresh.get('', { range: 'bytes=-100' });
    expect([end.status, end.body.equals(whole.subarray(-100))]).toEqual([206, true]);
  });

  it('reads no entry for its checksum that it has sent before', async () => {
    const reads: number[] = [];
    const sources = [0, 1, 2].map((index) => {
      const source = fileSource(bytesOf(index)) as FileSource;
      return {
        ...source,
        read: (first: number, last?: number) => {
          reads.push(index);
          return source.read(first, last);
        },
      };
    });
    const { get } = await start(sources.map((source) => ({ source })));
    const whole = (await get()).body;
    reads.length = 0;
    const rest = await get('', { range: `bytes=${whole.length - 100_000}-` });
    expect([rest.status, rest.body.equals(whole.subarray(-100_000)), reads]).toEqual([206, true, [2]]);
  });

  it('continues at an entry with its number', async () => {
    const { get, take } = await start([{}, {}, {}]);
    const { names, index } = await take('?from=3');
    expect(names).toEqual([THREE[2], 'A list/index.txt']);
    expect(index).toContain('\n1 of 3. ');
    const beyond = await get('?from=4');
    expect(JSON.parse(beyond.body.toString())).toEqual({
      type: '/problems/bad-parameter',
      title: 'Bad Request',
      status: 400,
      detail: 'The last entry of the list is number 3.',
    });
  });

  it('has selected entries alone, with their numbers', async () => {
    const selected = [
      [1, 1],
      [3, 9],
    ] as const;
    const { url } = await start([{}, {}, {}], { list: { selected } });
    expect((await extract(await expectSized(url()))).names).toEqual([THREE[0], THREE[2], 'A list/index.txt']);
    const without = await start([{}], { list: { selected: [[2, 3]] } });
    expect((await without.get()).status).toBe(400);
  });

  it('breaks when an entry turns out different, and has no length afterwards', async () => {
    const { get } = await start([{}, { source: fileSource(bytesOf(1, 1000)) }, {}]);
    await expect(get()).rejects.toThrow();
    const { headers, body } = await get();
    expect(headers['content-length']).toBeUndefined();
    expect((await extract(body)).names).toHaveLength(4);
  });

  it('breaks when an entry fails midway', async () => {
    const source = fileSource(bytesOf(1), { cutAt: 100_000 });
    const { get } = await start([{}, { source }]);
    await expect(get()).rejects.toThrow();
  });
});

describe('an archive of entries without lengths', () => {
  it('is a ZIP from the beginning, without length and cache', async () => {
    const { get } = await start([unsized(0), {}, unsized(2)]);
    const { headers, body } = await get();
    expect([headers['content-length'], headers.etag, headers['accept-ranges'], headers['cache-control']]).toEqual([
      ...[undefined, undefined, 'none', 'no-store'],
    ]);
    const { names, hashes } = await extract(body);
    expect(names).toEqual([...THREE, 'A list/index.txt']);
    expect(hashes.slice(0, 3)).toEqual([0, 1, 2].map((at) => sha256(bytesOf(at))));
  });

  it('leaves an entry that fails midway out of the directory, and names it in the index', async () => {
    const { take } = await start([{}, unsized(1, 100_000), {}]);
    const { names, index } = await take();
    expect(names).toEqual([THREE[0], THREE[2], 'A list/index.txt']);
    expect(index).toMatch(/MISSING: Failed after 1\d+ bytes\./);
  });
});

describe('the format', () => {
  const CHECKS = ['unzip -tq', '7z t', 'bsdtar -tf', 'bsdtar -tf - <', 'busybox unzip -t'];
  const isInstalled = (check: string) => isThere(check.split(' ')[0] ?? '');

  it.each([
    ['with a length', [{ title: 'ünïcode 🎵' }, {}]],
    ['without a length', [unsized(0), {}, unsized(2)]],
    ['with an entry that failed midway', [unsized(0), unsized(1, 100_000), {}]],
  ] as const)('%s is accepted by other programs, from a file and from a pipe', async (_name, entries) => {
    const { get } = await start(entries);
    const { body } = await get();
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'archive.zip');
      await writeFile(file, body);
      for (const check of CHECKS.filter(isInstalled)) {
        const { code, output } = await runProgram('sh', ['-c', `${check} '${file}'`]);
        expect([check, code, code ? output : '']).toEqual([check, 0, '']);
      }
    });
  });

  it.each([
    ['with a length', {}],
    ['without a length', { isUnsized: true }],
  ])(
    '%s is read from a pipe without the files that one of its entries pretends to end before',
    async (_name, traits) => {
      const contents = [bytesOf(0), smugglingFile(BYTES_PER_ENTRY), bytesOf(2)];
      const { get } = await start(
        contents.map((bytes) => ({ ...traits, source: fileSource(bytes, { sized: !('isUnsized' in traits) }) })),
      );
      const { headers, body } = await get();
      expect(headers['content-length']).toBe('isUnsized' in traits ? undefined : String(body.length));
      const digests = contents.map(sha256);
      for (const reader of ['bsdtar', 'java'] as const) {
        const { names, hashes } = await extractFromPipe(body, reader);
        expect([reader, names, hashes.slice(0, 3)]).toEqual([reader, [...THREE, 'A list/index.txt'], digests]);
      }
    },
  );

  it('lists entries beyond 4 GiB, in a file with holes', async () => {
    const size = 5 * 2 ** 30;
    const entries = ['a', 'b'].map((path) => ({ path, size, modifiedAt: new Date(0) }));
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'large.zip');
      const handle = await open(file, 'w');
      let offset = 0;
      const written = [];
      for (const entry of entries) {
        const header = localHeader(entry);
        const data = { entry, size, compressedSize: storedBytes(size), crc32: 0 };
        const descriptor = dataDescriptor(data);
        written.push({ ...data, offset });
        await handle.write(header, 0, header.length, offset);
        offset += header.length + data.compressedSize + descriptor.length;
        await handle.write(descriptor, 0, descriptor.length, offset - descriptor.length);
      }
      const directory = centralDirectory(written, offset);
      await handle.write(directory, 0, directory.length, offset);
      await handle.close();
      expect((await stat(file)).size).toBe(zipBytes(entries));
      for (const check of ['unzip -l', '7z l', 'bsdtar -tvf'].filter(isInstalled)) {
        const { code, output } = await runProgram('sh', ['-c', `${check} '${file}'`]);
        expect([check, code, output.split(String(size)).length > 2]).toEqual([check, 0, true]);
      }
    });
  });
});

describe('names within an archive', () => {
  it('stay within its folder, whatever titles are', async () => {
    const titles = [
      '../../etc/passwd',
      '/etc/shadow',
      'C:\\x',
      'con',
      'a/b',
      '..',
      '\u202egpj.exe',
      'x\r\n9. Forged',
      '',
    ];
    const { take } = await start(
      titles.map((title) => ({ title, resource: { author: null } })),
      {
        list: { title: '../..', author: null },
      },
    );
    const { names, index } = await take();
    expect(new Set(names).size).toBe(titles.length + 1);
    for (const name of names) expect(name).toMatch(/^[^./\\][^/\\:]*\/(\d\d - [^/\\:]+|index\.txt)$/);
    expect(index.split('\n').filter((line) => /^\d+\. /.test(line))).toHaveLength(titles.length);
  });
});

describe('one archive', () => {
  it('opens an entry while the one before it is sent, and no further one', async () => {
    const opened: number[] = [];
    const sources = [0, 1, 2, 3].map((index): OpenSource => {
      const source = fileSource(bytesOf(index), { sized: false });
      return async () => {
        opened.push(index);
        return source;
      };
    });
    const held = failingSource(fileSource(bytesOf(0)) as FileSource, 1);
    const first: OpenSource = async () => {
      opened.push(0);
      return { ...held, size: undefined };
    };
    const { url } = await start([first, ...sources.slice(1)].map((source) => ({ source, isUnsized: true })));
    const { body } = await openResponse(url());
    body.on('error', () => undefined);
    // Planning asks the first ones for their length, and stops at the first without one.
    const planned = opened.length;
    await until(() => opened.includes(1));
    expect(opened.slice(planned).filter((index) => index > 1)).toEqual([]);
    body.destroy();
  });

  it('is one stream of its client, and ends all when the client leaves', async () => {
    const held = failingSource(fileSource(bytesOf(0)) as FileSource, 1000);
    const next = fileSource(bytesOf(1));
    const { get, url } = await start([{ source: held }, { source: next }], { maxStreamsPerClient: 1 });
    const response = await openResponse(url());
    response.body.on('error', () => undefined);
    expect((await get()).status).toBe(429);
    response.body.destroy();
    await until(async () => (await get('?from=2')).status === 200);
    expect(next.reading.size).toBe(0);
    held.fail();
  });
});
