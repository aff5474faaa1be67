import { describe, expect, it } from 'vitest';
import { tileOf } from '../../../web/src/ui/cover.tsx';

describe('the tile of an item without a cover', () => {
  it.each([
    ['https://www.video.example/a', 'https://m.video.example/b?c', { letter: 'v' }],
    ['https://video.example/a', 'https://video.example:8443/', { letter: 'v' }],
    ['http://127.0.0.1/a', 'http://127.0.0.1:8090/b', { letter: '1' }],
    ['nonsense', '', { letter: undefined }],
  ])('is the same for %s and %s', (one, other, expected) => {
    expect(tileOf(one)).toMatchObject(expected);
    expect(tileOf(other)).toEqual(tileOf(one));
  });

  it('differs by host', () => {
    const hosts = ['video', 'music', 'vimeo', 'youtube', 'a', 'b'].map((name) => tileOf(`https://${name}.example`).hue);
    expect(new Set(hosts).size).toBe(hosts.length);
  });
});
