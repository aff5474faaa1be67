import { describe, expect, it } from 'vitest';
import { readExtraction } from '../../../../core/parsing/extraction/index.ts';
import { readStoryboard } from '../../../../core/resolve/yt-dlp/metadata.ts';
import { partOf } from '../../../../core/state/storyboard.ts';

const sheets = (count: number, url = (sheet: number) => `https://i.example/${sheet}.jpg`) =>
  Array.from({ length: count }, (_, sheet) => ({ url: url(sheet), duration: 18 }));

const STORYBOARD = {
  ...{ format_id: 'sb1', protocol: 'mhtml', ext: 'mhtml', vcodec: 'none', acodec: 'none' },
  ...{ url: 'https://i.example/M$M.jpg', width: 160, height: 90, rows: 3, columns: 3, fps: 0.5, fragments: sheets(2) },
};
const read = (format: object, item: object = {}) =>
  readStoryboard(readExtraction({ info: { formats: [{ ...STORYBOARD, ...format }], ...item } }).info, 0);

describe('readStoryboard', () => {
  it('keeps places and times of the pictures, and the addresses of the sheets', () => {
    const found = read({ http_headers: { Referer: 'https://site.example/' } });
    expect(found?.storyboard).toEqual({
      ...{ formatId: 'storyboard:sb1', width: 160, height: 90, rows: 3, columns: 3, intervalSeconds: 2, count: 18 },
    });
    expect(found?.track).toMatchObject({
      delivery: 'direct',
      url: 'https://i.example/0.jpg',
      video: null,
      audio: null,
    });
    expect(found && [0, 1, 2].map((sheet) => partOf(found.track, sheet)?.url)).toEqual([
      'https://i.example/0.jpg',
      'https://i.example/1.jpg',
      undefined,
    ]);
  });

  it('resolves relative addresses', () => {
    const found = read({ fragment_base_url: 'https://i.example/a/b', fragments: [{ path: 'c.jpg', duration: 18 }] });
    expect([found?.track.url, found && partOf(found.track, 0)?.url]).toEqual(
      Array(2).fill('https://i.example/a/c.jpg'),
    );
  });

  it('selects the width nearest to 160 pixels', () => {
    const formats = [48, 320, 170].map((width) => ({ ...STORYBOARD, format_id: `sb${width}`, width }));
    expect(read({}, { formats })?.storyboard.width).toBe(170);
  });

  it('counts no more pictures than there are places', () =>
    expect(read({ fps: 3, rows: 1, columns: 2 })?.storyboard.count).toBe(4));

  it.each<[string, object, object?]>([
    ['slides without rows', { rows: undefined, columns: undefined }],
    ['an unknown interval', { fps: undefined }],
    ['an unknown width', { width: null }],
    ['sheets without durations', { fragments: [{ url: 'https://i.example/0.jpg' }] }],
    ['no sheets', { fragments: [] }],
    ['absurd rows', { rows: 1e9 }],
    ['rows below zero', { rows: -3 }],
    ['pictures of absurd size', { height: 1e6 }],
    ['absurdly many pictures', { fps: 1e6, rows: 50, columns: 50, fragments: sheets(10) }],
    ['sheets without end', { fragments: sheets(1e6) }],
    ['addresses without end', { fragments: sheets(100, (sheet) => `https://i.example/${sheet}${'x'.repeat(8000)}`) }],
    ['files of this machine', { fragments: sheets(2, () => 'file:///etc/passwd') }],
    ['a live stream', {}, { is_live: true }],
  ])('reads none of %s', (_, format, item) => expect(read(format, item)).toBeUndefined());
});
