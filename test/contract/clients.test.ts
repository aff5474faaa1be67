import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SECONDS } from '../origin/recipes.ts';
import { itWith } from '../support/clients.ts';
import { inspect, probe, runProgram, withTemporaryFolder } from '../support/media-tools.ts';
import { conversionOf, renditionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

/** A direct file, a file of a strict upstream, and a conversion. */
const streams: Record<string, { url: string; bytes: Buffer }> = {};
beforeAll(async () => {
  const found = {
    direct: await renditionOf(target, '/files/long.mp4'),
    strict: await renditionOf(target, '/site/long-strict/clients', 'audio'),
    mp3: await conversionOf(target, '/files/long.mp4'),
  };
  for (const [name, { path }] of Object.entries(found)) {
    streams[name] = { url: target.baseUrl + path, bytes: (await target.get(path)).body };
  }
});
const streamOf = (kind: string) => streams[kind] ?? expect.fail('Not resolved');

describe.each(['direct', 'strict', 'mp3'])('%s stream', (kind) => {
  /** @param missingBytes the end of the stream, which a resumed download lacks. @default the whole */
  const download = (command: string, args: (url: string, file: string) => string[], missingBytes?: number) =>
    withTemporaryFolder(async (folder) => {
      const { url, bytes } = streamOf(kind);
      const file = join(folder, 'download.bin');
      if (missingBytes !== undefined) await writeFile(file, bytes.subarray(0, -missingBytes));
      const { code, output } = await runProgram(command, args(url, file));
      expect(code, output).toBe(0);
      return (await readFile(file)).equals(bytes);
    });

  itWith('curl')('is downloaded completely by curl', async () => {
    expect(await download('curl', (url, file) => ['-sSf', '-o', file, url])).toBe(true);
  });

  itWith('curl')('is resumed by curl -C -', async () => {
    expect(await download('curl', (url, file) => ['-sSf', '-C', '-', '-o', file, url], 323_457)).toBe(true);
  });

  itWith('wget')('is resumed by wget -c', async () => {
    expect(await download('wget', (url, file) => ['-q', '-c', '-O', file, url], 400_001)).toBe(true);
  });

  itWith('aria2c')('is assembled by aria2c from eight parts', async () => {
    const args = (url: string, file: string) => [
      ...['-x', '8', '-s', '8', '-k', '1M', '--min-split-size=1M', '--quiet=true', '--allow-overwrite=true'],
      ...['--file-allocation=none', '-d', join(file, '..'), '-o', 'download.bin', url],
    ];
    expect(await download('aria2c', args)).toBe(true);
  });

  itWith('curl')('sends curl -r its range', () =>
    withTemporaryFolder(async (folder) => {
      const { url, bytes } = streamOf(kind);
      const file = join(folder, 'part');
      const { output } = await runProgram('curl', ['-sS', '-r', '1000-1999', '-w', '%{http_code}', '-o', file, url]);
      expect(output).toBe('206');
      expect((await readFile(file)).equals(bytes.subarray(1000, 2000))).toBe(true);
    }),
  );

  it('has a duration that ffprobe reads', async () => {
    expect((await probe(streamOf(kind).url)).durationSeconds).toBeCloseTo(SECONDS.long, 0);
  });

  it('is seekable with FFmpeg', async () => {
    const args = ['-nostdin', '-v', 'error', '-ss', '270', '-i', streamOf(kind).url, '-t', '1', '-f', 'null', '-'];
    expect(await runProgram('ffmpeg', args)).toEqual({ code: 0, output: '' });
  });
});

it('has the promised size of a long conversion, and its duration', async () => {
  const { fileSizeBytes } = await conversionOf(target, '/files/long.mp4');
  const { bytes } = streamOf('mp3');
  expect(bytes).toHaveLength(fileSizeBytes ?? -1);
  const { codecs, complaints, durationSeconds } = await inspect(bytes, '.mp3');
  expect([codecs, complaints]).toEqual([['mp3'], '']);
  expect(Math.abs(durationSeconds - SECONDS.long)).toBeLessThan(0.15);
});

describe('complete download', () => {
  itWith('wget')('is left unchanged by wget -c', () =>
    withTemporaryFolder(async (folder) => {
      const { url, bytes } = streamOf('direct');
      const file = join(folder, 'download.bin');
      await writeFile(file, bytes);
      await runProgram('wget', ['-q', '-c', '-O', file, url]);
      expect((await readFile(file)).equals(bytes)).toBe(true);
    }),
  );
});
