import { expect, it } from 'vitest';
import { readFailure } from '../src/worker/link-processes.ts';

const DESCRIBED = 'reelay: failed {"kind":"drm","message":"x","classes":["ExtractorError"]}\n';

it.each<[string, string, object]>([
  [
    'the first of several',
    `WARNING: a\n${DESCRIBED}ERROR: x\nreelay: failed {"kind":"geo","message":"y"}`,
    { kind: 'drm', message: 'x' },
  ],
  [
    'one that was cut off',
    'reelay: failed {"kind":\nERROR: [Site] 1: x\n',
    { kind: 'crash', message: 'ERROR: [Site] 1: x' },
  ],
  ['one of another shape', 'reelay: failed {"kind":1}\n', { kind: 'crash' }],
  [
    'an invalid option',
    'Usage: yt-dlp\n\nyt-dlp: error: no such option: --x\n',
    { kind: 'crash', message: 'yt-dlp: error: no such option: --x' },
  ],
  ['none', '', { kind: 'crash', message: 'yt-dlp printed no info' }],
])('reads %s', (_, stderr, failure) => expect(readFailure(stderr)).toMatchObject(failure));

it.each([`reelay: failed {"kind":"bug","message":"${'x'.repeat(10_000)}"}`, 'x'.repeat(10_000)])(
  'bounds the message of %.20s',
  (stderr) => expect(readFailure(stderr).message).toHaveLength(600),
);
