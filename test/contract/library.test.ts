import { expect, it } from 'vitest';
import { probe, runProgram } from '../support/media-tools.ts';
import { useTarget } from './target.ts';

const target = useTarget();

it('a feed of a list has enclosures with lengths, which seek after the addresses of their source have expired', async () => {
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
  target.origin.expireUrls();
  const url = before[0]?.url ?? '';
  const { streams, durationSeconds } = await probe(url);
  expect(streams.map(({ type, height }) => [type, height])).toEqual([
    ['video', 1080],
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
  const { body } = await target.get(headers.location ?? '');
  const last = await target.get(headers.location ?? '', { headers: { range: 'bytes=-1000' } });
  expect([last.status, last.body.equals(body.subarray(-1000))]).toEqual([206, true]);
  await expect.poll(async () => (await enclosures()).map(({ length }) => length)).toEqual([body.length, 0]);
});
