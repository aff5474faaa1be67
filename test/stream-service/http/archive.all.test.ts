import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedBytes } from '../../../core/media/zip/stored-blocks.ts';
import { centralDirectory, dataDescriptor, localHeader, zipBytes } from '../../../core/media/zip/zip-records.ts';
import type { FileSource, OpenSource } from '../../../stream-service/source/source.ts';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { isThere } from '../../support/on-path.ts';
import { openResponse, sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { failingSource, until } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import {
  BYTES_PER_ENTRY,
  bytesOf,
  extract,
  extractFromPipe,
  KEY,
  sha256,
  smugglingFile,
  THREE,
  useArchives,
} from './archive-fixture.ts';

const start = useArchives();

describe('an archive of entries with lengths', () => {
  it.each(['zip', 'tar'] as const)('is a %s of announced length that other programs read', async (format) => {
    const { url, touched } = await start([{}, {}, {}]);
    const { status, headers, body } = await sendRequest(url(`?format=${format}`));
    expect(status).toBe(200);
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers['content-type']).toBe(format === 'zip' ? 'application/zip' : 'application/x-tar');
    expect(headers['content-disposition']).toContain(`filename="A list.${format}"`);
    expect(headers['accept-ranges']).toBe(format === 'zip' ? 'none' : 'bytes');
    expect(headers['cache-control']).toBe(
      format === 'zip' ? 'no-store' : 'public, max-age=3600, must-revalidate, stale-if-error=0',
    );
    const { names, hashes, index } = await extract(body, format);
    expect(names).toEqual([...THREE, 'A list/index.txt']);
    expect(hashes.slice(0, 3)).toEqual(await Promise.all([0, 1, 2].map((at) => sha256(bytesOf(at)))));
    expect(index).toContain('3 entries in the list, 3 in this archive, 0 missing');
    expect(index).toContain('https://site.example/1');
    expect(touched).toEqual([KEY]);
  });

  it.each(['zip', 'tar'] as const)('has the headers of %s under HEAD', async (format) => {
    const { url } = await start([{}, {}]);
    const head = await sendRequest(url(`?format=${format}`), { method: 'HEAD' });
    const { headers } = await sendRequest(url(`?format=${format}`));
    for (const name of ['content-length', 'etag', 'accept-ranges', 'content-type', 'content-disposition'])
      expect(head.headers[name]).toBe(headers[name]);
    expect(head.body).toHaveLength(0);
  });

  it('is a TAR that continues at any byte, with a strong ETag', async () => {
    const { url } = await start([{}, {}, {}]);
    const header = 512 + BYTES_PER_ENTRY;
    const starts = [511, 512, 513, header - 1, header, header + 700, 300_000, 450_123];
    const edges = [...starts.map((first) => [first, first + 1000] as const), [199_000, 401_000] as const];
    await expectSeekable(url('?format=tar'), { edges });
  });

  it('is a TAR of which any range is that slice of the whole', async () => {
    const { url } = await start([{}, {}]);
    const whole = (await sendRequest(url('?format=tar'))).body;
    const offset = fc.nat(whole.length - 1);
    await fc.assert(
      fc.asyncProperty(offset, offset, async (...ends) => {
        const [first, last] = [Math.min(...ends), Math.max(...ends)];
        const { body } = await sendRequest(url('?format=tar'), { headers: { range: `bytes=${first}-${last}` } });
        expect(body.equals(whole.subarray(first, last + 1))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('ignores Range for ZIP, and continues at an entry with its number', async () => {
    const { url } = await start([{}, {}, {}]);
    expect((await sendRequest(url(), { headers: { range: 'bytes=5-' } })).status).toBe(200);
    const { names, index } = await extract((await sendRequest(url('?from=3'))).body, 'zip');
    expect(names).toEqual([THREE[2], 'A list/index.txt']);
    expect(index).toContain('3 entries in the list, 1 in this archive');
    const beyond = await sendRequest(url('?from=4'));
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
    const { headers, body } = await sendRequest(url());
    expect(headers['content-length']).toBe(String(body.length));
    expect((await extract(body, 'zip')).names).toEqual([THREE[0], THREE[2], 'A list/index.txt']);
    const { url: without } = await start([{}], { list: { selected: [[2, 3]] } });
    expect((await sendRequest(without())).status).toBe(400);
  });

  it('breaks when an entry turns out different, and has no length afterwards', async () => {
    const { url } = await start([{}, { source: fileSource(bytesOf(1, 1000)) }, {}]);
    await expect(sendRequest(url())).rejects.toThrow();
    const { headers, body } = await sendRequest(url());
    expect(headers['content-length']).toBeUndefined();
    expect((await extract(body, 'zip')).names).toHaveLength(4);
  });

  it('breaks when an entry fails midway', async () => {
    const source = fileSource(bytesOf(1), { cutAt: 100_000 });
    for (const format of ['zip', 'tar']) {
      const { url } = await start([{}, { source }]);
      await expect(sendRequest(url(`?format=${format}`))).rejects.toThrow();
    }
  });
});

describe('an archive of entries without lengths', () => {
  const unsized = (index: number) => ({ isUnsized: true, source: fileSource(bytesOf(index), { sized: false }) });

  it('is a ZIP from the beginning, without length and cache', async () => {
    const { url } = await start([unsized(0), {}, unsized(2)]);
    const { headers, body } = await sendRequest(url());
    expect([headers['content-length'], headers.etag, headers['accept-ranges'], headers['cache-control']]).toEqual([
      ...[undefined, undefined, 'none', 'no-store'],
    ]);
    const { names, hashes } = await extract(body, 'zip');
    expect(names).toEqual([...THREE, 'A list/index.txt']);
    expect(hashes.slice(0, 3)).toEqual(await Promise.all([0, 1, 2].map((at) => sha256(bytesOf(at)))));
  });

  it('leaves them out of a TAR, with the reason in the index', async () => {
    const { url } = await start([{}, unsized(1)]);
    const { names, index } = await extract((await sendRequest(url('?format=tar'))).body, 'tar');
    expect(names).toEqual([THREE[0], 'A list/index.txt']);
    expect(index).toContain('MISSING: Unsupported Media Type. TAR requires its length in advance');
  });

  it('is refused as TAR when none has a length', async () => {
    const { url } = await start([unsized(0), unsized(1)]);
    const { status, body } = await sendRequest(url('?format=tar'));
    expect([status, JSON.parse(body.toString()).detail]).toEqual([
      415,
      'TAR requires lengths in advance, and no entry has one. Use format=zip.',
    ]);
  });

  it('leaves an entry that fails midway out of the directory, and names it in the index', async () => {
    const cut = { isUnsized: true, source: fileSource(bytesOf(1), { sized: false, cutAt: 100_000 }) };
    const { url } = await start([{}, cut, {}]);
    const { names, index } = await extract((await sendRequest(url())).body, 'zip');
    expect(names).toEqual([THREE[0], THREE[2], 'A list/index.txt']);
    expect(index).toMatch(/MISSING: Failed after 1\d+ bytes\./);
  });
});

describe('the format', () => {
  const unsized = (index: number, cutAt?: number) => ({
    isUnsized: true,
    source: fileSource(bytesOf(index), { sized: false, ...(cutAt && { cutAt }) }),
  });
  const CHECKS = {
    zip: ['unzip -tq', '7z t', 'bsdtar -tf', 'bsdtar -tf - <', 'busybox unzip -t'],
    tar: ['tar -tf', '7z t', 'bsdtar -tf', 'bsdtar -tf - <'],
  };
  const isInstalled = (check: string) => isThere(check.split(' ')[0] ?? '');

  it.each([
    ['zip', 'with a length', [{}, {}]],
    ['zip', 'without a length', [unsized(0), {}, unsized(2)]],
    ['zip', 'with an entry that failed midway', [unsized(0), unsized(1, 100_000), {}]],
    ['tar', 'with a length', [{ title: 'ünïcode 🎵' }, {}]],
    ['tar', 'without a length', [{}, unsized(1), {}]],
  ] as const)('%s %s is accepted by other programs, from a file and from a pipe', async (format, _name, entries) => {
    const { url } = await start(entries);
    const { body } = await sendRequest(url(`?format=${format}`));
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, `archive.${format}`);
      await writeFile(file, body);
      for (const check of CHECKS[format].filter(isInstalled)) {
        const { code, output } = await runProgram('sh', ['-c', `${check} '${file}'`]);
        expect([check, code, code ? output : '']).toEqual([check, 0, '']);
      }
    });
  });

  it.each([
    ['with a length', {}],
    ['without a length', { isUnsized: true }],
  ])(
    'zip %s is read from a pipe without the files that one of its entries pretends to end before',
    async (_name, traits) => {
      const contents = [bytesOf(0), smugglingFile(BYTES_PER_ENTRY), bytesOf(2)];
      const { url } = await start(
        contents.map((bytes) => ({ ...traits, source: fileSource(bytes, { sized: !('isUnsized' in traits) }) })),
      );
      const { headers, body } = await sendRequest(url());
      expect(headers['content-length']).toBe('isUnsized' in traits ? undefined : String(body.length));
      const digests = await Promise.all(contents.map(sha256));
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
    const { url } = await start(
      titles.map((title) => ({ title, resource: { author: null } })),
      {
        list: { title: '../..', author: null },
      },
    );
    for (const format of ['zip', 'tar'] as const) {
      const { names, index } = await extract((await sendRequest(url(`?format=${format}`))).body, format);
      expect(new Set(names).size).toBe(titles.length + 1);
      for (const name of names) expect(name).toMatch(/^[^./\\][^/\\:]*\/(\d\d - [^/\\:]+|index\.txt)$/);
      expect(index.split('\n').filter((line) => /^\d+\. /.test(line))).toHaveLength(titles.length);
    }
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
    const { url } = await start([{ source: held }, { source: next }], { maxStreamsPerClient: 1 });
    const response = await openResponse(url());
    response.body.on('error', () => undefined);
    expect((await sendRequest(url())).status).toBe(429);
    response.body.destroy();
    await until(async () => (await sendRequest(url('?from=2'))).status === 200);
    expect(next.reading.size).toBe(0);
    held.fail();
  });
});

describe('an unknown key', () => {
  it.each([`${'k'.repeat(33)}`, 'short', `${'x'.repeat(22)}11111111111`])('%s is 404', async (key) => {
    const { baseUrl } = await start([{}]);
    expect((await sendRequest(`${baseUrl}/api/Stream/Archive/${key}`)).status).toBe(404);
  });
});
