import { describe, expect, it } from 'vitest';
import { playlistCountsOf, progressOf } from '../../../web/src/api/response-headers.ts';

describe('playlistCountsOf', () => {
  it.each([
    ['listed=3', { total: undefined, isCut: false, unavailable: [] }],
    ['listed=197, total=500, cut, unavailable=(2 17 42)', { total: 500, isCut: true, unavailable: [2, 17, 42] }],
    ['unavailable=(4),total=7', { total: 7, isCut: false, unavailable: [4] }],
  ])('reads %s', (header, counts) => expect(playlistCountsOf(new Headers({ 'x-playlist': header }))).toEqual(counts));

  it('is undefined for a link that is no playlist', () => expect(playlistCountsOf(new Headers())).toBeUndefined());
});

describe('progressOf', () => {
  it.each([
    ['step=fetch, tool="yt-dlp", received=12, total=34', { receivedBytes: 12, totalBytes: 34 }],
    ['step=check, tool="yt-dlp"', {}],
  ])('reads %s', (header, bytes) =>
    expect(progressOf(new Headers({ 'x-maintenance': header }))).toEqual({
      step: header.slice(5, 10),
      tool: 'yt-dlp',
      ...bytes,
    }),
  );

  it('is undefined without the header', () => expect(progressOf(new Headers())).toBeUndefined());
});
