import { describe, expect, it } from 'vitest';
import { audioBitrate, isAac, isOpus, shorterSide } from '../../../../core/resolve/renditions/criteria.ts';
import type { Track } from '../../../../core/state/resource.ts';

const track = (more: Partial<Track> = {}): Track => ({
  formatId: 'f',
  delivery: 'direct',
  url: 'https://cdn.example/f',
  headers: {},
  cookies: [],
  container: 'mp4',
  video: null,
  audio: null,
  sizeIsExact: false,
  ...more,
});

describe('shorterSide', () => {
  it.each([
    [null, undefined],
    [{ width: 1280 }, undefined],
    [{ height: 720 }, 720],
    [{ height: 720, width: 1280 }, 720],
    [{ height: 1280, width: 720 }, 720],
  ])('of %j is %j', (video, lines) => expect(shorterSide({ video })).toBe(lines));
});

describe('audioBitrate', () => {
  it.each([
    [track({ audio: { bitrate: 96 }, bitrate: 128 }), 96],
    [track({ audio: {}, bitrate: 128 }), 128],
    [track({ bitrate: 128 }), 128],
  ])('of case %# is that of the audio, else of the track', (subject, bitrate) =>
    expect(audioBitrate(subject)).toBe(bitrate),
  );
});

describe('isOpus and isAac', () => {
  it.each([
    ['opus', 'webm', [true, false]],
    ['mp4a.40.2', 'webm', [false, true]],
    [undefined, 'mp4', [false, true]],
    [undefined, 'mp4v', [false, false]],
    [undefined, 'webm', [false, false]],
    ['flac', 'mp4', [false, false]],
  ])('of codec %j in %s are %j', (codec, container, expected) => {
    const subject = track({ audio: { codec }, container });
    expect([isOpus(subject), isAac(subject)]).toEqual(expected);
  });

  it('are false without audio', () => {
    const silent = track({ container: 'webm' });
    expect([isOpus(silent), isAac(silent)]).toEqual([false, false]);
  });
});
