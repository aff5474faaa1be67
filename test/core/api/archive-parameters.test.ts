import { describe, expect, it } from 'vitest';
import { Problem } from '../../../core/api/problem.ts';
import { parseArchiveParameters } from '../../../core/api/resolve-parameters.ts';

describe('parseArchiveParameters', () => {
  it.each([
    [{}, { format: 'zip', quality: 'best', codec: 'compatible', hasTags: false, from: 1 }],
    [
      { format: 'TAR', quality: '720p', codec: 'any', from: '12' },
      { format: 'tar', quality: { maxHeight: 720 }, codec: 'any', hasTags: false, from: 12 },
    ],
    [
      { quality: ' mp3 ', format: '', from: '' },
      { format: 'zip', quality: 'mp3', codec: 'compatible', hasTags: false, from: 1 },
    ],
    [
      { quality: ['worst', 'best'], from: ['2', '3'] },
      { format: 'zip', quality: 'worst', codec: 'compatible', hasTags: false, from: 2 },
    ],
    [
      { jobId: [' a-1 ', 'b'] },
      { format: 'zip', quality: 'best', codec: 'compatible', hasTags: false, from: 1, jobId: 'a-1' },
    ],
  ])('reads %j', (query, expected) => expect(parseArchiveParameters(query)).toEqual(expected));

  it('reads the options of MP3', () => {
    const parsed = parseArchiveParameters({ quality: 'mp3', bitrate: '320', tags: 'true' });
    expect(parsed).toMatchObject({ quality: 'mp3', bitrateKbps: 320, hasTags: true });
  });

  it.each<[Record<string, string>, string | RegExp]>([
    [{ format: 'rar' }, 'format must be zip, tar, strm, or absent'],
    [{ quality: '8k' }, /^quality must be /],
    [{ codec: 'h264' }, 'codec must be any, or absent'],
    [{ bitrate: '320' }, 'bitrate needs quality=mp3'],
    [{ quality: 'mp3', bitrate: '321' }, /^bitrate must be /],
    [{ tags: 'yes' }, 'tags must be true, or absent'],
    [{ jobId: 'a b' }, /^jobId must have at most 64 /],
    [{ jobId: 'a', format: 'tar' }, 'jobId needs format=zip or strm'],
    ...['0', '-1', '1.5', '1e3', '٣', '9999999', 'x'].map((from): [Record<string, string>, string] => [
      { from },
      'from must be the number of an entry, such as 12',
    ]),
  ])('rejects %j', (query, detail) => {
    const parse = () => parseArchiveParameters(query);
    expect(parse).toThrow(Problem);
    expect(parse).toThrow(detail);
  });
});
