import { describe, expect, it } from 'vitest';
import { Problem } from '../../../core/api/problem.ts';
import { parseArchiveParameters } from '../../../core/api/resolve-parameters.ts';

describe('parseArchiveParameters', () => {
  const DEFAULTS = { quality: 'best', codec: 'compatible', hasTags: false, from: 1 };

  it.each<[Record<string, string | string[]>, object]>([
    [{}, {}],
    [
      { format: 'ZIP', codec: 'any', from: '12' },
      { codec: 'any', from: 12 },
    ],
    [{ quality: '720p' }, { quality: { maxHeight: 720 } }],
    [{ quality: ' mp3 ', format: '', from: '' }, { quality: 'mp3' }],
    [
      { quality: ['worst', 'best'], from: ['2', '3'] },
      { quality: 'worst', from: 2 },
    ],
    [{ jobId: [' a-1 ', 'b'] }, { jobId: 'a-1' }],
    [
      { quality: 'mp3', bitrate: '320', tags: 'true' },
      { quality: 'mp3', bitrateKbps: 320, hasTags: true },
    ],
  ])('reads %j', (query, given) => expect(parseArchiveParameters(query)).toEqual({ ...DEFAULTS, ...given }));

  it.each<[Record<string, string>, string | RegExp]>([
    [{ format: 'tar' }, 'format must be zip, or absent'],
    [{ quality: '8k' }, /^quality must be /],
    [{ codec: 'h264' }, 'codec must be any, or absent'],
    [{ bitrate: '320' }, 'bitrate needs quality=mp3'],
    [{ quality: 'mp3', bitrate: '321' }, /^bitrate must be /],
    [{ tags: 'yes' }, 'tags must be true, or absent'],
    [{ jobId: 'a b' }, /^jobId must have at most 64 /],
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
