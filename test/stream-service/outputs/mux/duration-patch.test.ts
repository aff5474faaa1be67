import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { patchHeaderDuration } from '@reelay/seekable-media/isobmff';
import { beforeAll, describe, expect, it } from 'vitest';
import { box, indexContent } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { createHeaderPatchStream } from '../../../../stream-service/outputs/mux/ffmpeg-muxer.ts';
import { selectPairFormat } from '../../../../stream-service/outputs/mux/mux-format.ts';
import { ensureMedia, madeFile } from '../../../origin/media.ts';
import { inspect } from '../../../support/media-tools.ts';
import { audioTrack, videoTrack } from '../../fixture.ts';

describe('createHeaderPatchStream', () => {
  let file: Buffer;
  beforeAll(async () => {
    const inputs = ['-i', 'ladder/h264-360.mp4', '-i', 'ladder/aac-128.m4a'];
    const { output } = selectPairFormat({ tracks: [videoTrack(), audioTrack()] }).args();
    file = await readFile(await madeFile('mux.mp4', [...inputs, ...output], await ensureMedia()));
  });

  const patch = (chunks: Iterable<Buffer>, seconds = 8) =>
    buffer(Readable.from(chunks).pipe(createHeaderPatchStream((bytes) => patchHeaderDuration(bytes, seconds))));
  function* split(bytes: Buffer, length: number) {
    for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
  }

  it('changes only the moov and keeps every offset', async () => {
    const patched = await patch([file]);
    const { start, end } = indexContent(file, 'file').require('moov');
    expect(patched.length).toBe(file.length);
    expect(patched.subarray(0, start)).toEqual(file.subarray(0, start));
    expect(patched.subarray(end).equals(file.subarray(end))).toBe(true);
    expect(patched.subarray(start, end).equals(file.subarray(start, end))).toBe(false);
    const probed = await inspect(patched, '.mp4');
    expect(probed.durationSeconds).toBeCloseTo(8, 1);
    expect(probed.complaints).toBe('');
  });

  it.each([1, 7, 100, 5000])('emits the same bytes in chunks of %d', async (length) => {
    const head = file.subarray(0, 20_000);
    expect((await patch(split(head, length))).equals(await patch([head]))).toBe(true);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a file without moov', Buffer.concat([box('ftyp', Buffer.alloc(8)), box('mdat', Buffer.alloc(5000))])],
    ['half a header', box('moov', Buffer.alloc(200)).subarray(0, 100)],
    ['no boxes at all', Buffer.from('WEBM'.repeat(500))],
    ['two megabytes of nothing', Buffer.alloc(2_000_000)],
    ['a box that claims terabytes', Buffer.from('0000000166747970ffffffffffffffff00', 'hex')],
  ])('passes on %s', async (_name, bytes) => {
    expect((await patch(split(bytes, 1000))).equals(bytes)).toBe(true);
  });
});
