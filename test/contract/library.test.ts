import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { probe, runProgram, withTemporaryFolder } from '../support/media-tools.ts';
import { useTarget } from './target.ts';

const target = useTarget();

it.each([
  ['a pair of files', '/site/tall/library', '&quality=1080p', [], 1080],
  ['a file with subtitles', '/site/detailed/library', '', ['de', 'en', 'fr'], 360],
] as const)(
  'a library of %s has links that seek, also after the addresses of the source have expired',
  async (_, path, more, languages, height) => {
    const link = `/api/Get?url=${encodeURIComponent(target.origin.url(path))}&format=strm${more}`;
    const { status, headers } = await target.get(link);
    expect(status).toBe(302);
    const { body } = await target.get(headers.location ?? '');
    await withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'library.zip'), body);
      await mkdir(join(folder, 'out'));
      const unzipped = await runProgram('unzip', ['-q', join(folder, 'library.zip'), '-d', join(folder, 'out')]);
      expect(unzipped).toEqual({ code: 0, output: '' });
      const files = (await readdir(join(folder, 'out'), { recursive: true })).filter((name) => /\.\w+$/.test(name));
      const name = (ending: string) => join(folder, 'out', files.find((file) => file.endsWith(ending)) ?? ending);
      expect(files.map((file) => file.replace(/^.*library\]/, '').replace(/^.*\//, '')).toSorted()).toEqual(
        [
          ...['.strm', '.nfo', '-poster.jpg', 'folder.jpg', 'index.txt'],
          ...languages.map((language) => `.${language}.srt`),
        ].toSorted(),
      );
      expect(await runProgram('xmllint', ['--noout', name('.nfo')])).toEqual({ code: 0, output: '' });
      const url = (await readFile(name('.strm'), 'utf8')).trim();
      target.origin.expireUrls();
      await expectSeekable(url, height);
    });
  },
);

it('a feed of a list with video has enclosures with lengths, which seek', async () => {
  const list = encodeURIComponent(target.origin.url('/site/list/library?n=2&kind=tall'));
  const enclosures = async () => {
    const { body } = await target.get(`/api/Feed?url=${list}&quality=1080p`);
    return [...body.toString().matchAll(/<enclosure url="([^"]+)" type="([^"]+)" length="(\d+)"\/>/g)].map(
      ([, url = '', type, length]) => ({ url: url.replaceAll('&amp;', '&'), type, length: Number(length) }),
    );
  };
  const before = await enclosures();
  expect(before.map(({ type, length }) => [type, length])).toEqual([
    ['video/mp4', 0],
    ['video/mp4', 0],
  ]);
  const size = await expectSeekable(before[0]?.url ?? '', 1080);
  await expect.poll(async () => (await enclosures()).map(({ length }) => length)).toEqual([size, 0]);
});

/** Checks a one-shot link of a video of 8 seconds as players read it. @returns its bytes */
async function expectSeekable(url: string, height: number): Promise<number> {
  const { streams, durationSeconds } = await probe(url);
  expect(streams.map(({ type, height }) => [type, height])).toEqual([
    ['video', height],
    ['audio', undefined],
  ]);
  expect(durationSeconds).toBeCloseTo(8, 0);
  // By the index of the file and a range.
  const seek = ['-v', 'error', '-seekable', '1', '-read_intervals', '6%+#1', '-select_streams', 'v'];
  const entries = ['-show_entries', 'packet=pts_time', '-of', 'csv=p=0', url];
  const { code, output } = await runProgram('ffprobe', [...seek, ...entries]);
  expect([code, Number.parseFloat(output)]).toEqual([0, expect.closeTo(6, 0)]);
  const { pathname, search } = new URL(url);
  const { headers } = await target.get(pathname + search);
  const whole = await target.get(headers.location ?? '');
  const { length } = whole.body;
  expect([whole.headers['content-type'], whole.headers['content-length']]).toEqual(['video/mp4', String(length)]);
  const middle = Math.floor(length / 2);
  for (const [range, first, end] of [
    [`${middle}-${middle + 999}`, middle, middle + 1000],
    [`${length - 500}-`, length - 500, length],
    ['-1000', length - 1000, length],
  ] as const) {
    const part = await target.get(headers.location ?? '', { headers: { range: `bytes=${range}` } });
    expect([part.status, part.body.equals(whole.body.subarray(first, end))]).toEqual([206, true]);
  }
  return length;
}
