import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { probeSegmentStart } from '../../../../packages/seekable-media/src/mpegts/segment-probe.ts';
import { ensureMedia } from '../../../origin/media.ts';

const heads = { ts: Buffer.alloc(0), fmp4: Buffer.alloc(0) };
beforeAll(async () => {
  const hls = join(await ensureMedia(), 'hls');
  heads.ts = await readFile(join(hls, 'ts', await firstOf(join(hls, 'ts'))));
  const init = /URI="([^"]+)"/.exec(await readFile(join(hls, 'fmp4', 'index.m3u8'), 'utf8'))?.[1] ?? '';
  const parts = [init, await firstOf(join(hls, 'fmp4'))].map((name) => readFile(join(hls, 'fmp4', name)));
  heads.fmp4 = Buffer.concat(await Promise.all(parts));
});
const firstOf = async (folder: string) =>
  (await readFile(join(folder, 'index.m3u8'), 'utf8')).split('\n').find((line) => line && !line.startsWith('#')) ?? '';

describe('probeSegmentStart', () => {
  it('finds the audio framing and the start time of MPEG-TS', () => {
    const { isFramedAac, startSeconds, isComplete } = probeSegmentStart(heads.ts);
    expect(isFramedAac).toBe(true);
    expect(startSeconds).toBeCloseTo(1.4, 0);
    expect(isComplete).toBe(true);
  });

  it('finds the start time of fragmented MP4, whose AAC is unframed', () => {
    expect(probeSegmentStart(heads.fmp4)).toMatchObject({ isFramedAac: false, startSeconds: 0, isComplete: true });
  });

  it.each([
    ['framed AAC', 'fff1508001', true],
    ['framed AAC behind a tag', '49443304000000000002aaaafff15080', true],
    ['MP3', 'fffb9064', false],
    ['AC-3', '0b770000', false],
    ['WebM', '1a45dfa3', false],
    ['an unknown format', '00112233', undefined],
  ])('recognizes %s', (_name, hex, isFramedAac) => {
    const found = probeSegmentStart(Buffer.from(hex, 'hex'));
    expect(found.isFramedAac).toBe(isFramedAac);
    expect(found.startSeconds).toBe(undefined);
    expect(found.isComplete).toBe(true);
  });

  it.each(['ts', 'fmp4'] as const)('accepts %s truncated anywhere and with any damaged byte', (kind) => {
    const head = heads[kind].subarray(0, 4000);
    for (let at = 0; at < head.length; at += 1) {
      expect(() => probeSegmentStart(head.subarray(0, at))).not.toThrow();
      const damaged = Buffer.from(head);
      for (const value of [0, 1, 0x7f, 0xff]) {
        damaged[at] = value;
        expect(() => probeSegmentStart(damaged)).not.toThrow();
      }
    }
  });
});
