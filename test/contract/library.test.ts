import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { syncList } from '../../clients/reelay-client/src/folder/index.ts';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { probe, runProgram, withTemporaryFolder } from '../support/media-tools.ts';
import { useTarget } from './target.ts';

const target = useTarget();

it.each([
  ['pairs of files', 'kind=tall', { quality: '1080p' }, [], 1080],
  ['files with subtitles', 'kind=detailed', {}, ['de', 'en', 'es', 'fr'], 360],
] as const)(
  'a library of %s has links that seek, also after the addresses of the source have expired',
  async (_, kind, selection, languages, height) => {
    const link = target.origin.url(`/site/list/links?n=1&${kind}`);
    await withTemporaryFolder(async (folder) => {
      const client = createClient({ instance: target.baseUrl });
      const { entries } = await syncList(client, { link, folder, selection, isLibrary: true });
      expect(entries).toMatchObject([{ outcome: { download: { file: expect.stringMatching(/\.strm$/) } } }]);
      const names = (await readdir(folder, { recursive: true })).filter((name) => /^[^.].*\.\w+$/.test(name));
      const fileOf = (ending: string) => join(folder, names.find((name) => name.endsWith(ending)) ?? ending);
      expect(names.map((name) => name.replace(/^.*\/(?:.*\])?/, '')).toSorted()).toEqual(
        ['.strm', '.nfo', '-poster.jpg', 'folder.jpg', ...languages.map((language) => `.${language}.srt`)].toSorted(),
      );
      const parse = ['-c', 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])', fileOf('.nfo')];
      expect(await runProgram('python3', parse)).toEqual({ code: 0, output: '' });
      const url = (await readFile(fileOf('.strm'), 'utf8')).trim();
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
