import { describe, expect, it } from 'vitest';
import { parseMediaParameters, withoutBlanks } from '../../../core/api/stream-parameters.ts';

it.each([
  [{}, {}],
  [{ subtitles: '', start: ' \t', tags: undefined }, {}],
  [
    { start: '1', end: '', subtitles: ' de' },
    { start: '1', subtitles: ' de' },
  ],
  [
    { start: ['', '1'], end: ['2', ' ', '3'], tags: ['', ''] },
    { start: '1', end: ['2', '3'] },
  ],
])('withoutBlanks leaves the values of %j that are not blank', (query, filled) =>
  expect(withoutBlanks(query)).toEqual(filled),
);

describe('parseMediaParameters', () => {
  it.each([
    [{}, undefined, undefined],
    [{ format: 'MP3' }, 'mp3', undefined],
    [{ format: ['mp3', 'ogg'] }, 'mp3', undefined],
    [{ format: 'mp4' }, undefined, undefined],
    [{ format: 'mp3', bitrate: '128' }, 'mp3', 128],
    [{ format: 'mp3', bitrate: '192' }, 'mp3', 192],
    [{ format: 'mp3', bitrate: '320' }, 'mp3', 320],
  ] as const)('parses %j', (query, format, bitrateKbps) =>
    expect(parseMediaParameters(query as never)).toMatchObject({ format, bitrateKbps }),
  );

  it.each<[object, string]>([
    ...['', '0', '127', '128.0', ' 128', '0128', '0x80', '1e2', '-192', '320k', '٣٢٠', 'NaN', '9'.repeat(400)].map(
      (bitrate): [object, string] => [{ format: 'mp3', bitrate }, 'bitrate must be 128, 192, 256, 320, or absent'],
    ),
    [{ format: 'mp3', bitrate: ['128', '128'] }, 'bitrate is given more than once'],
    [{ bitrate: '128' }, 'bitrate needs format=mp3'],
    [{ format: 'ogg', bitrate: '128' }, 'bitrate needs format=mp3'],
  ])('rejects %j', (query, detail) =>
    expect(() => parseMediaParameters(query as never)).toThrow(
      expect.objectContaining({
        details: { type: '/problems/bad-parameter', title: 'Bad Request', status: 400, detail },
      }),
    ),
  );
});
