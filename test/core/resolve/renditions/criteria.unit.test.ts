import { describe, expect, it } from 'vitest';
import {
  audioCriteria,
  type Criterion,
  partnerCriteria,
  rank,
  videoCriteria,
} from '../../../../core/resolve/renditions/criteria.ts';
import { type Format, tracksOf } from '../yt-dlp/tracks-of.ts';

type Candidate = ReturnType<typeof tracksOf>[number];

/** Two values of one criterion: the first comes first. Fields not given are equal. */
type Contrast = readonly [better: Format, worse: Format];

const HLS = { protocol: 'm3u8_native' };
/** `stopsEarly` is no field of yt-dlp: it is measured. */
const candidateOf = ({ stopsEarly, ...format }: Format): Candidate => {
  const [candidate] = tracksOf({ formats: [{ url: 'https://cdn.example/1', protocol: 'https', ...format }] }, 0);
  return candidate ? { ...candidate, stopsEarly: stopsEarly === true } : expect.fail('Not readable');
};

const flawContrasts: readonly Contrast[] = [
  [{ stopsEarly: false }, { stopsEarly: true }],
  [{ has_drm: false }, { has_drm: 'maybe' }],
  [{ impersonate: false }, { impersonate: 'chrome' }],
  [{ preference: -9 }, { preference: -10 }],
];
const PICTURE = {
  ext: 'mp4',
  vcodec: 'avc1.64001f',
  acodec: 'mp4a.40.2',
  width: 1280,
  height: 720,
  language_preference: 5,
};
const videoContrasts: readonly Contrast[] = [
  ...flawContrasts,
  [{ format_note: '720p' }, { format_note: '720p, AI-upscaled' }],
  [{ height: 720 }, { height: 480 }],
  [{ format_note: 'HD' }, { format_note: 'HD, watermarked' }],
  [{ preference: 1 }, { preference: 0 }],
  [{ source_preference: 1 }, { source_preference: 0 }],
  [
    { acodec: 'aac', language_preference: -1 },
    { acodec: 'aac', language_preference: -2 },
  ],
  [{ protocol: 'https' }, HLS],
  [{ fps: 60, ext: 'mp4', vcodec: 'h264', dynamic_range: 'SDR' }, { fps: 30 }],
  [{ acodec: 'aac' }, { acodec: 'none', fps: 30 }],
  [{ ext: 'mp4' }, { ext: 'webm' }],
  [{ vcodec: 'h264' }, { vcodec: 'vp9' }],
  [{ dynamic_range: 'SDR' }, { dynamic_range: 'HDR10' }],
  [{ fps: 30 }, { fps: 25 }],
  [{ quality: 1 }, { quality: 0 }],
  [{ language_preference: 6 }, { language_preference: 5 }],
  [{ tbr: 1001 }, { tbr: 1000 }],
];

const SOUND = { ext: 'm4a', vcodec: 'none', acodec: 'mp4a.40.2', abr: 128 };
const versionContrasts: readonly Contrast[] = [
  ...flawContrasts,
  [{ format_note: 'English' }, { format_note: 'English (audio description)' }],
  [{ language_preference: 1 }, { language_preference: 0 }],
  [{ format_note: 'Originalton' }, { format_note: 'Deutsch' }],
  [{ source_preference: -1 }, { source_preference: -2 }],
  [{ format_note: 'medium' }, { format_note: 'medium, voice boost' }],
  [{ format_id: '140' }, { format_id: '140-drc' }],
  [{ preference: 1 }, { preference: 0 }],
];
const qualityContrasts: readonly Contrast[] = [
  [{ quality: 1 }, { quality: 0 }],
  [{ acodec: 'flac' }, { acodec: 'opus' }],
  [{ abr: 129 }, { abr: 128 }],
  [{ source_preference: 1 }, { source_preference: 0 }],
  [{ protocol: 'https' }, HLS],
];
const MANIFEST = 'https://cdn.example/master.m3u8';
const partnerContrasts: readonly Contrast[] = [
  ...versionContrasts,
  [{ acodec: 'mp4a.40.2' }, { acodec: 'opus' }],
  [{ ...HLS, manifest_url: MANIFEST }, { protocol: 'https' }],
  ...qualityContrasts,
];

const silent = candidateOf({ ...PICTURE, ...HLS, acodec: 'none', manifest_url: MANIFEST });

/**
 * For each criterion two formats: equal in those before it, and in all those after it the one that it prefers is worse.
 */
const duelsOf = (criteria: readonly Criterion<Candidate>[], contrasts: readonly Contrast[], common: Format) =>
  criteria.map(({ name }, index) => {
    const later = contrasts.slice(index + 1).toReversed();
    const [better, worse] = contrasts[index] ?? expect.fail(`No contrast for ${name}`);
    return {
      name,
      winner: candidateOf(Object.assign({ ...common }, ...later.map(([, lower]) => lower), better)),
      loser: candidateOf(Object.assign({ ...common }, ...later.map(([higher]) => higher), worse)),
    };
  });

describe.each([
  ['videoCriteria', videoCriteria, videoContrasts, PICTURE],
  ['audioCriteria', audioCriteria, [...versionContrasts, ...qualityContrasts], SOUND],
  ['partnerCriteria', partnerCriteria(silent), partnerContrasts, SOUND],
] as const)('%s', (title, criteria, contrasts, common) => {
  it('has a contrast for each criterion', () => expect(contrasts).toHaveLength(criteria.length));

  // No pair differs in the last criterion only: for a video of HLS, a file ranks like HLS but has no manifest.
  const duels = duelsOf(criteria, contrasts, common);
  it.each(title === 'partnerCriteria' ? duels.slice(0, -1) : duels)('puts first: $name', ({ winner, loser }) => {
    expect(rank([loser, winner], criteria)).toEqual([winner, loser]);
    expect(rank([winner, loser], criteria)).toEqual([winner, loser]);
  });
});

describe('a criterion of video', () => {
  const order = (...formats: Format[]) =>
    rank(
      formats.map((format, index) => candidateOf({ ...PICTURE, format_id: String(index), ...format })),
      videoCriteria,
    ).map(({ track }) => track.formatId);

  it.each<[string, Format[], string[]]>([
    [
      'ranks vertical by its width',
      [
        { width: 480, height: 854 },
        { width: 720, height: 576 },
      ],
      ['1', '0'],
    ],
    [
      'ranks an unknown width by its height',
      [
        { height: 480, width: null },
        { width: 720, height: 576 },
      ],
      ['1', '0'],
    ],
    ['ranks an unknown resolution last', [{ height: null }, { height: 144, width: 256 }], ['1', '0']],
    [
      'ranks WebM and QuickTime before other containers',
      [{ ext: 'flv' }, { ext: 'webm' }, { ext: 'mov' }],
      ['1', '2', '0'],
    ],
    ['treats m4v as MP4', [{ ext: 'webm' }, { ext: 'm4v' }, { ext: 'mp4' }], ['1', '2', '0']],
    [
      'does not take xmp4 or mp4x for MP4',
      [{ ext: 'xmp4' }, { ext: 'mp4x' }, { ext: 'xwebm' }, { ext: 'webm' }],
      ['3', '0', '1', '2'],
    ],
    [
      'ignores the language of video without sound',
      [
        { acodec: 'none', language_preference: -10, fps: 60 },
        { acodec: 'none', fps: 30 },
      ],
      ['0', '1'],
    ],
    [
      'ranks an audio description low by its name',
      [{ format_note: 'Audiodeskription', fps: 60 }, { fps: 30 }],
      ['1', '0'],
    ],
    [
      'ranks 60 frames per second of a pair before 30 with audio, where both play everywhere',
      [{ fps: 30 }, { acodec: 'none', fps: 59.94 }, { acodec: 'none', fps: 50 }],
      ['1', '2', '0'],
    ],
    [
      'ranks usual frame rates, and what not everything plays, by other criteria first',
      [
        { acodec: 'none', fps: 30 },
        { acodec: 'none', fps: 60, vcodec: 'vp9' },
        { acodec: 'none', fps: 60, dynamic_range: 'HDR10' },
        { fps: 60, ext: 'webm' },
        { fps: 25 },
      ],
      ['4', '3', '0', '2', '1'],
    ],
    [
      'ranks a high frame rate above 1440p by other criteria first',
      [
        { acodec: 'none', fps: 60, width: 3840, height: 2160 },
        { fps: 30, width: 3840, height: 2160 },
      ],
      ['1', '0'],
    ],
    [
      'ranks a watermark below everything of its resolution, not below smaller ones',
      [{ height: 480, width: 854 }, { format_id: '1-with-watermark' }, { ext: 'flv', fps: 1 }],
      ['2', '1-with-watermark', '0'],
    ],
    ['takes an unknown frame rate for 0', [{ fps: null }, { fps: 1 }], ['1', '0']],
    ['takes an unknown bitrate for 0', [{ tbr: null }, { tbr: 1 }], ['1', '0']],
    ['keeps the order of equals', [{}, {}, {}], ['0', '1', '2']],
  ])('%s', (_, formats, expected) => expect(order(...formats)).toEqual(expected));
});

describe('a criterion of audio', () => {
  const order = (criteria: readonly Criterion<Candidate>[], ...formats: Format[]) =>
    rank(
      formats.map((format, index) => candidateOf({ ...SOUND, format_id: String(index), ...format })),
      criteria,
    ).map(({ track }) => track.formatId);

  it.each<[string, Format[], string[]]>([
    ['weights Opus by 1.2', [{ abr: 119 }, { acodec: 'opus', abr: 100 }, { abr: 121 }], ['2', '1', '0']],
    ['takes an unknown bitrate for 0', [{ abr: null }, { abr: 1 }], ['1', '0']],
    [
      'ranks lossless audio first, FLAC and ALAC before PCM, whatever the bitrate',
      [
        { abr: 320 },
        { acodec: 'pcm_s16le', ext: 'wav', abr: 1411 },
        { acodec: 'flac', ext: 'flac', abr: 700 },
        { acodec: 'alac', abr: 800 },
        { acodec: null, ext: 'flac', abr: null },
        { acodec: null, ext: 'wav', abr: null },
        { acodec: 'pcm_mulaw', ext: 'wav', abr: 64 },
      ],
      ['3', '2', '4', '1', '5', '0', '6'],
    ],
    [
      'counts a name as the original only where no language preference is stated',
      [
        { format_note: 'original, DRC', language_preference: 10 },
        { language_preference: 10, abr: 64 },
        { format_note: 'original', language_preference: 5, abr: 320 },
      ],
      ['1', '0', '2'],
    ],
    ['takes the bitrate of the whole track where audio has none', [{ abr: null, tbr: 130 }, { abr: 129 }], ['0', '1']],
  ])('%s', (_, formats, expected) => expect(order(audioCriteria, ...formats)).toEqual(expected));

  it('takes unknown codecs in MP4 for AAC, and in WebM not', () =>
    expect(
      order(
        partnerCriteria(silent),
        { acodec: null, ext: 'webm' },
        { acodec: null, ext: 'm4a' },
        { acodec: null, ext: 'mp4' },
        { acodec: null, ext: 'aac' },
        { acodec: null, ext: 'xm4a', vcodec: 'none' },
        { acodec: null, ext: 'm4ax', vcodec: 'none' },
        { acodec: 'opus', ext: 'mp4' },
      ),
    ).toEqual(['1', '2', '3', '6', '0', '4', '5']));

  it('prefers the same manifest to the same delivery, and that to neither', () =>
    expect(
      order(
        partnerCriteria(silent),
        {},
        { ...HLS },
        { ...HLS, manifest_url: `${MANIFEST}?2` },
        { ...HLS, manifest_url: MANIFEST },
      ),
    ).toEqual(['3', '1', '2', '0']));

  it('does not take unknown manifests for the same', () => {
    const { manifestUrl: _, ...unlisted } = silent;
    expect(order(partnerCriteria(unlisted), { ...HLS, manifest_url: MANIFEST }, { ...HLS })).toEqual(['0', '1']);
  });
});
