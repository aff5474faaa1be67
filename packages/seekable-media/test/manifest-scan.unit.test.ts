import { describe, expect, it } from 'vitest';
import { scanDashManifest } from '../src/dash.ts';
import { PlaylistError, scanHlsPlaylist } from '../src/hls/index.ts';

/** Bytes that probing reads of a manifest. */
const MAX_BYTES = 4 * 1024 * 1024;
const fill = (piece: string) => piece.repeat(MAX_BYTES / piece.length);

const scanOrReject = (text: string) => {
  try {
    return scanHlsPlaylist(text);
  } catch (error) {
    expect(error).toBeInstanceOf(PlaylistError);
    return undefined;
  }
};

describe('scanning a hostile manifest of 4 MiB', () => {
  it.each([
    ['unclosed root elements', fill('<MPD ')],
    ['one unclosed root element', `<MPD ${fill('a')}`],
    ['attributes without values', `<MPD ${fill('mediaPresentationDuration ')}>`],
  ])('finds nothing in DASH: %s', (_, text) => expect(scanDashManifest(text)).toBeUndefined());

  it.each([
    ['empty lines', `#EXTM3U\n${fill('\n')}a`],
    ['one-letter lines', `#EXTM3U\n${fill('a\n')}`],
    ['one long line', `#EXTM3U\na\n#EXT-X-KEY:${fill('URI="')}`],
    ['durations made of spaces', `#EXTM3U\na\n#EXT-X-ENDLIST\n${fill('#EXTINF:   \n')}`],
  ])('finds no duration in HLS: %s', (_, text) => expect(scanOrReject(text)?.durationSeconds).toBeUndefined());
});

describe('durations above four months', () => {
  it.each(['9999999999999', '9'.repeat(400), '1.2.3'])('are ignored in HLS: %s', (seconds) =>
    expect(scanHlsPlaylist(`#EXTM3U\n#EXTINF:${seconds},\na\n#EXT-X-ENDLIST`)).toMatchObject({
      segment: 'a',
      durationSeconds: undefined,
    }),
  );

  it('are ignored in DASH', () =>
    expect(scanDashManifest(`<MPD mediaPresentationDuration="P${'9'.repeat(40)}D">`)).toEqual({}));

  it('are ignored when HLS durations add up to them', () =>
    expect(scanHlsPlaylist(`#EXTM3U\n${'#EXTINF:6000000,\na\n'.repeat(2)}#EXT-X-ENDLIST`)).toMatchObject({
      segment: 'a',
      durationSeconds: undefined,
      isRounded: true,
    }));
});

describe('scanHlsPlaylist', () => {
  it.each([
    ['#EXTM3U\n#EXTINF:2.5,\na.ts\n#EXTINF:1.25,x\r\nb.ts\n#EXT-X-ENDLIST', { durationSeconds: 3.75, segment: 'a.ts' }],
    ['\ufeff#EXTM3U\n#EXTINF:2,\na.ts\n', { segment: 'a.ts' }],
    ['#EXTM3U\n', undefined],
    [
      '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXT-X-MAP:URI="i"\n#EXTINF:2,\na\n',
      { segment: 'a', initialization: 'i', key: 'k', iv: Buffer.alloc(16) },
    ],
    [
      '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:258\n#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF:2,\na\n',
      { segment: 'a', key: 'k', iv: Buffer.from('00000000000000000000000000000102', 'hex') },
    ],
    [
      '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0xA7\n#EXTINF:2,\na\n',
      { segment: 'a', key: 'k', iv: Buffer.from('000000000000000000000000000000a7', 'hex') },
    ],
    [
      '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:257\n#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXT-X-GAP\n#EXTINF:2,\na\n#EXTINF:2,\nb\n',
      { segment: 'b', key: 'k', iv: Buffer.from('00000000000000000000000000000102', 'hex') },
    ],
    [
      '#EXTM3U\n#EXTINF:2,\nad\n#EXT-X-MAP:URI="i"\n#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF:2,\na\n',
      { segment: 'ad' },
    ],
    [
      '#EXTM3U\n#EXTINF:2,\nad\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="com.apple"\n#EXTINF:2,\na\n',
      { segment: 'ad', key: 'skd://k' },
    ],
    ['#EXTM3U\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"\n#EXTINF:2,\na\n', { segment: 'a', key: 'k' }],
    ['ID3...', undefined],
    ['<html>', undefined],
  ])('reads %j', (text, expected) => expect(scanHlsPlaylist(text)).toEqual(expected));
});

describe('scanDashManifest', () => {
  it.each([
    ['<?xml?><MPD mediaPresentationDuration="PT1H2M3.5S" type="static">', { durationSeconds: 3723.5 }],
    ["<MPD mediaPresentationDuration='P1DT1S'>", { durationSeconds: 86401 }],
    ['<!-- 1 --><mpd2:MPD\n mediaPresentationDuration = "P12D" >', { durationSeconds: 12 * 86400 }],
    ['<MPD mediaPresentationDuration\t=\n"PT10H"/>', { durationSeconds: 36_000 }],
    ['<MPD mediaPresentationDuration="PT25M">', { durationSeconds: 1500 }],
    ['<MPD mediaPresentationDuration="P0Y0M0DT0H4M20.880S">', { durationSeconds: 260.88 }],
    ['<MPD mediaPresentationDuration="PT2H0.25S">', { durationSeconds: 7200.25 }],
    ...['', 'P', '1', 'PT', 'PT1', 'P1M', 'T1S', 'PT1Sx', 'xPT1S', 'PT1.2.3S'].map((written): [string, object] => [
      `<MPD mediaPresentationDuration="${written}">`,
      {},
    ]),
    ['<MPD xmediaPresentationDuration="PT1S">', {}],
    ['<MPD ><Period mediaPresentationDuration="PT1S">', {}],
    ['<MPDX mediaPresentationDuration="PT1S">', undefined],
    [`${' '.repeat(64 * 1024 - 5)}<MPD>`, {}],
    [`${' '.repeat(64 * 1024 - 4)}<MPD>`, undefined],
    ['<MPD type="dynamic">', {}],
    ['<html>', undefined],
  ])('reads %j', (text, expected) => expect(scanDashManifest(text)).toEqual(expected));
});
