import { describe, expect, it } from 'vitest';
import { selectPairFormat, selectRemuxFormat } from '../../../../stream-service/outputs/mux/mux-format.ts';
import { trackOf } from '../../fixture.ts';

const SILENT = null;
const UNSEEN = null;

describe('selectRemuxFormat', () => {
  it.each([
    [{ codec: 'avc1.64001f' }, { codec: 'mp4a.40.2' }, '.mp4', 'video/mp4'],
    [{ codec: 'vp9' }, { codec: 'opus' }, '.mp4', 'video/mp4'],
    [{ codec: 'av01.0.05M.08' }, SILENT, '.mp4', 'video/mp4'],
    [UNSEEN, { codec: 'mp4a.40.5' }, '.m4a', 'audio/mp4'],
    [{}, {}, '.mp4', 'video/mp4'],
    [{ codec: 'vp8' }, { codec: 'vorbis' }, '.webm', 'video/webm'],
    [UNSEEN, { codec: 'vorbis' }, '.webm', 'audio/webm'],
  ])('%j with %j is %s', (video, audio, fileExtension, mimeType) => {
    expect(selectRemuxFormat(trackOf('x', { delivery: 'hls', video, audio }))).toMatchObject({
      fileExtension,
      mimeType,
    });
  });

  it.each([
    ['mp4a.40.2', true],
    ['aac', true],
    [undefined, true],
    ['mp4a.40.34', false],
    ['mp4a.6B', false],
    ['opus', false],
    ['ec-3', false],
  ])('unpacks segments of %s: %s', (codec, unpacks) => {
    const track = trackOf('x', { delivery: 'hls', audio: codec === undefined ? {} : { codec } });
    for (const { args } of [selectRemuxFormat(track), selectPairFormat({ tracks: [track, track] })]) {
      expect(args().output.includes('aac_adtstoasc')).toBe(unpacks);
    }
  });

  it.each([
    ['m4a', false],
    ['aac', true],
    ['ts', true],
  ])('unpacks AAC of a direct .%s file: %s', (container, unpacks) => {
    expect(
      selectPairFormat({ tracks: [trackOf('v'), trackOf('x', { container })] })
        .args()
        .output.includes('aac_adtstoasc'),
    ).toBe(unpacks);
  });
});
