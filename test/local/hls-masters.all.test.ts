import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ResourceInformation } from '../../clients/reelay-client/src/api-types.ts';
import { openOwnService } from '../contract/target.ts';
import type { OriginHandler } from '../origin/handler.ts';
import { fragmentedHls, madeBy } from '../origin/media.ts';
import { send, sendFile, typeOf } from '../origin/respond.ts';
import { runProgram } from '../support/media-tools.ts';
import { sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Mean volume of each audio track in dBFS, which identifies it in a stream. Stereo of the same mono track is 3 dB lower. */
const VOLUMES = { en: -21, fr: -33, ad: -45 } as const;
const TOLERANCE_DB = 5;
const SECONDS = 4;

const HLS = ['-f', 'hls', '-hls_time', '2', '-hls_list_size', '0', '-hls_playlist_type', 'vod'];
const list = (name: string) => [...HLS, `${name}.m3u8`];
const fmp4 = (name: string) => fragmentedHls(name, 2);
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20'];
const picture = ['-map', '0:v', ...H264];
const sound = (index: number) => ['-map', '1:a', '-c:a', 'aac', '-b:a', '64k', '-af', `volume=${-12 * index}dB`];

/** `high` and `low` without audio, `muxed` with audio, as MPEG-TS and fragmented MP4, and each audio track separately. */
const FFMPEG_ARGS = [
  ...['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=10:duration=${SECONDS}`],
  ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${SECONDS}`],
  ...picture,
  ...list('high'),
  ...picture,
  '-s',
  '160x90',
  ...list('low'),
  ...picture,
  ...sound(0),
  ...list('muxed'),
  ...picture,
  ...fmp4('high-mp4'),
  ...picture,
  ...sound(0),
  ...fmp4('muxed-mp4'),
  ...(['en', 'fr', 'ad'] as const).flatMap((name, index) => [...sound(index), ...list(name)]),
  ...sound(0),
  ...fmp4('en-mp4'),
];
/** FFmpeg's own multivariant playlist: it lists only variants whose bitrates are set. */
const MASTER_ARGS = (type: string) => [
  ...['-i', 'muxed.m3u8', '-map', '0:a', '-map', '0:v', ...HLS],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-b:v', '200k', '-c:a', 'aac', '-b:a', '64k'],
  ...['-hls_segment_type', type, '-var_stream_map', 'a:0,agroup:sound,language:eng,default:yes v:0,agroup:sound'],
  ...['-master_pl_name', `own-${type}.m3u8`, `own-${type}-%v.m3u8`],
];

interface Variant {
  readonly uri: string;
  readonly size?: string;
  readonly codecs?: string;
  readonly group?: boolean;
}
interface GroupMember {
  readonly name: string;
  readonly language: string;
  readonly isDefault?: boolean;
  /** Absent: in the segments of the variants. */
  readonly uri?: string;
}

const H264_AAC = 'avc1.42c00d,mp4a.40.2';

function master(variants: readonly Variant[], group: readonly GroupMember[] = []): string {
  const media = group.map(({ name, language, isDefault = false, uri }) => {
    const choice = isDefault ? 'YES' : 'NO';
    const more = uri ? `,URI="${uri}.m3u8"` : '';
    return `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="${name}",LANGUAGE="${language}",DEFAULT=${choice},AUTOSELECT=${choice}${more}`;
  });
  const streams = variants.flatMap(({ uri, size = '320x180', codecs, group: names = true }, index) => [
    `#EXT-X-STREAM-INF:BANDWIDTH=${900_000 - index},RESOLUTION=${size}${codecs ? `,CODECS="${codecs}"` : ''}${
      group.length > 0 && names ? ',AUDIO="g"' : ''
    }`,
    `${uri}.m3u8`,
  ]);
  return ['#EXTM3U', '#EXT-X-VERSION:6', ...media, ...streams, ''].join('\n');
}

const ENGLISH: GroupMember = { name: 'English', language: 'en', isDefault: true, uri: 'en' };
const IN_SEGMENTS: GroupMember = { name: 'English', language: 'en', isDefault: true };
const FRENCH: GroupMember = { name: 'Français', language: 'fr', uri: 'fr' };
const DESCRIPTION: GroupMember = { name: 'English (Audio Description)', language: 'en', uri: 'ad' };
const APART: readonly Variant[] = [{ uri: 'high' }];
const SIZES: readonly Variant[] = [...APART, { uri: 'low', size: '160x90' }];
const withCodecs = (variants: readonly Variant[], codecs = H264_AAC) => variants.map((one) => ({ ...one, codecs }));

const MP4 = { high: [{ uri: 'high-mp4' }], muxed: [{ uri: 'muxed-mp4' }] };
const MUXED: readonly Variant[] = [{ uri: 'muxed' }];
const MASTERS: readonly (readonly [name: string, variants: readonly Variant[], group?: readonly GroupMember[]])[] = [
  ['with CODECS, sound apart', withCodecs(SIZES), [ENGLISH]],
  ['without CODECS, sound apart', SIZES, [ENGLISH]],
  ['with CODECS of the picture alone, sound apart', withCodecs(APART, 'avc1.42c00d'), [ENGLISH]],
  ['with CODECS, sound in the segments', withCodecs(MUXED), [IN_SEGMENTS]],
  ['without CODECS, sound in the segments', MUXED, [IN_SEGMENTS]],
  ['without CODECS and group', MUXED],
  ['with an alternative beside sound in the segments', withCodecs(MUXED), [IN_SEGMENTS, FRENCH]],
  ['without CODECS, an alternative beside sound in the segments', MUXED, [IN_SEGMENTS, FRENCH]],
  ['with several languages', withCodecs(APART), [FRENCH, ENGLISH]],
  ['with several languages, the default first', withCodecs(APART), [ENGLISH, FRENCH]],
  ['without CODECS, with several languages', APART, [ENGLISH, FRENCH]],
  ['with a description', withCodecs(APART), [ENGLISH, DESCRIPTION]],
  [
    'with a description that is the default',
    withCodecs(APART),
    [
      { ...DESCRIPTION, isDefault: true },
      { ...ENGLISH, isDefault: false },
    ],
  ],
  ['without CODECS, muxed beside demuxed', [{ uri: 'muxed', group: false }, ...APART], [ENGLISH]],
  ['in fragmented MP4, sound apart', withCodecs(MP4.high), [{ ...ENGLISH, uri: 'en-mp4' }]],
  ['in fragmented MP4 without CODECS, sound apart', MP4.high, [{ ...ENGLISH, uri: 'en-mp4' }]],
  ['in fragmented MP4 without CODECS, sound in the segments', MP4.muxed, [IN_SEGMENTS]],
];
/** FFmpeg's own playlists, and the same without CODECS, which FFmpeg leaves out for codecs that it cannot name. */
const OWN: (readonly [title: string, file: string, best: string])[] = [];

const playlists = new Map(MASTERS.map(([, ...lists], index) => [`master-${index}.m3u8`, master(...lists)]));
const media = await madeBy([FFMPEG_ARGS, MASTER_ARGS('mpegts'), MASTER_ARGS('fmp4')]);
for (const type of ['mpegts', 'fmp4']) {
  const own = await readFile(join(media, `own-${type}.m3u8`), 'utf8');
  expect(own).toContain('AUDIO="');
  const forms = { 'as it is': own, 'without CODECS': own.replaceAll(/,CODECS="[^"]*"/g, '') };
  for (const [form, text] of Object.entries(forms)) {
    const file = `${type}-${playlists.size}.m3u8`;
    playlists.set(file, text);
    OWN.push([`of FFmpeg as ${type} ${form}`, file, 'Combined']);
  }
}
const sendMade: OriginHandler = async (exchange) => {
  const { path } = exchange;
  const file = playlists.get(path) ?? (await readFile(join(media, path)).catch(() => undefined));
  return file ? send(exchange, typeOf(path), file) : sendFile(exchange, path);
};
const folder = await temporaryFolder();
const { origin, service } = await openOwnService({ mounts: { '/made/': sendMade } });

describe('an HLS multivariant playlist', () => {
  const resolve = async (name: string) => {
    const url = `${service.baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(origin.url(`/made/${name}`))}`;
    const { status, body } = await sendRequest(url);
    expect(status).toBe(200);
    const { mediaItems } = JSON.parse(body.toString()) as ResourceInformation;
    return mediaItems[0] ?? expect.fail('No item');
  };

  const stream = async (path: string, extension: string) => {
    const { status, body } = await sendRequest(`${service.baseUrl}/api/Stream/${path}`);
    expect(status).toBe(200);
    const file = join(folder, `streamed${extension}`);
    await writeFile(file, body);
    // One run lists the streams, measures the volume and finds broken frames: `level` prefixes each line with its log level.
    const args = ['-nostdin', '-v', 'level+info', '-i', file, '-af', 'volumedetect', '-f', 'null', '-'];
    const { code, output } = await runProgram('ffmpeg', args);
    expect(code).toBe(0);
    expect(output).not.toMatch(/\[(?:panic|fatal|error)\]/);
    const [input = ''] = output.split('Output #0');
    const [, minutes, seconds] = /Duration: 00:(\d+):([\d.]+)/.exec(input) ?? [];
    return {
      codecs: Array.from(input.matchAll(/Stream #\S+ (?:Video|Audio): (\w+)/g), ([, codec]) => codec),
      height: Number(/Video: .* \d+x(\d+)/.exec(input)?.[1]),
      durationSeconds: Number(minutes) * 60 + Number(seconds),
      meanVolume: Number(/mean_volume: (-?[\d.]+) dB/.exec(output)?.[1]),
    };
  };

  const expectEnglish = (meanVolume: number) =>
    expect(Math.abs(meanVolume - VOLUMES.en), `mean volume ${meanVolume} dB`).toBeLessThan(TOLERANCE_DB);

  const cases = [
    ...MASTERS.map(
      ([name, [best]], index) =>
        [name, `master-${index}.m3u8`, best?.uri.startsWith('muxed') ? 'Media' : 'Combined'] as const,
    ),
    ...OWN,
  ];

  it.each(cases)('%s is streamed with picture and sound', async (name, file, best) => {
    const { video, audio } = await resolve(file);
    expect(video?.urlType).toBe(best);
    for (const { urlType, key } of video?.renditions ?? []) {
      const { codecs, height, meanVolume, durationSeconds } = await stream(`${urlType}/${key}`, '.mp4');
      expect(codecs).toEqual(['h264', 'aac']);
      expect([180, 90]).toContain(height);
      expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.5);
      expectEnglish(meanVolume);
    }
    const conversion = audio?.renditions.find(({ convertTo }) => convertTo === 'mp3') ?? expect.fail('No MP3');
    // Of audio in the segments and a separate alternative, only the latter is an audio-only rendition. The container and how
    // codecs became known make no difference to a conversion.
    if (!/alternative|without CODECS|fragmented|FFmpeg/.test(name)) {
      const { meanVolume } = await stream(`Media/${conversion.key}?format=mp3`, '.mp3');
      expectEnglish(meanVolume);
    }
    expect(new Set(video?.renditions.map(({ description }) => description)).size).toBe(video?.renditions.length);
  });
});
