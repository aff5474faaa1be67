import { videoRank } from '@reelay/seekable-media/codecs';
import { capabilitiesOf } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';
import {
  audioBitrate,
  compatibleHighFps,
  containerRank,
  DAMAGED_PREFERENCE,
  hasForeignAudio,
  isAac,
  isDamaged,
  isOpus,
  losslessRank,
  shorterSide,
  stopsEarly,
  USUAL_FPS,
  type VideoCandidate,
} from './traits.ts';

/** One reason to prefer a candidate over another. A list of them is applied in order: the first that differs decides. */
export interface Criterion<Subject> {
  /** As in the documentation: what comes first. */
  readonly name: string;
  readonly reason: string;
  /** Negative when `a` comes first, 0 when the criterion does not tell them apart. */
  readonly compare: (a: Subject, b: Subject) => number;
}

/** Prefers the higher value. */
export const higher =
  <Subject>(figure: (subject: Subject) => number) =>
  (a: Subject, b: Subject): number =>
    figure(b) - figure(a);

/** Prefers the lower value. */
export const lower =
  <Subject>(figure: (subject: Subject) => number) =>
  (a: Subject, b: Subject): number =>
    figure(a) - figure(b);

/** Prefers those to which it applies. */
const firstIf = <Subject>(applies: (subject: Subject) => boolean) =>
  higher<Subject>((subject) => Number(applies(subject)));

/** Prefers those to which it does not apply. */
const lastIf = <Subject>(applies: (subject: Subject) => boolean) =>
  lower<Subject>((subject) => Number(applies(subject)));

type CandidateCriterion = Criterion<Candidate>;

/** yt-dlp's `source_preference` of an HLS rendition with DEFAULT=NO or AUTOSELECT=NO. */
const ALTERNATE_SOURCE_PREFERENCE = -2;
/** Opus sounds as good as AAC at a 20 % higher bitrate. */
const OPUS_BITRATE_WEIGHT = 1.2;

const whole: CandidateCriterion & Criterion<VideoCandidate> = {
  name: 'Not refused after its first minute',
  reason:
    'Some hosts (`PROBED_HOSTS`) refuse the rest to clients that they do not trust. The audio of a pair counts as well.',
  compare: lastIf(stopsEarly),
};

const readable: CandidateCriterion = {
  name: 'Not possibly DRM protected',
  reason: '`has_drm: "maybe"`: the manifest mentions DRM, and often cannot be decrypted.',
  compare: lastIf(({ mayHaveDrm }) => mayHaveDrm),
};

const forAnyClient: CandidateCriterion = {
  name: 'Not only for browsers',
  reason: '`impersonate`: the site checks for the TLS of a browser, which media requests do not imitate.',
  compare: lastIf(({ needsImpersonation }) => needsImpersonation),
};

const undamaged: CandidateCriterion = {
  name: 'Not marked as damaged or unplayable',
  reason: `A \`preference\` of ${DAMAGED_PREFERENCE} or less: YouTube's damaged formats, TikTok's own codec. They come last whatever their resolution.`,
  compare: lastIf(isDamaged),
};

const preference: CandidateCriterion = {
  name: 'Higher `preference`',
  reason: 'The rating by the extractor: re-encoded copies and 3gp files are lower.',
  compare: higher((candidate) => candidate.preference),
};

const sourcePreference: CandidateCriterion = {
  name: 'Higher `source_preference`',
  reason: "The extractor's rating of servers and copies: an original file before its re-encoding.",
  compare: higher((candidate) => candidate.sourcePreference),
};

const quality: CandidateCriterion = {
  name: 'Higher `quality`',
  reason: "The source's own scale.",
  compare: higher((candidate) => candidate.quality),
};

const language: CandidateCriterion = {
  name: 'Higher `language_preference`',
  reason: 'The original language before a dub.',
  compare: higher((candidate) => candidate.languagePreference),
};

const file: CandidateCriterion = {
  name: 'A file before HLS and DASH',
  reason: 'A file always has a length and ranges: it can be resumed, and players can seek in it.',
  compare: firstIf(({ track }) => capabilitiesOf(track).isFile),
};

/** Whether a format can be expected to play at all. */
export const soundCriteria: readonly CandidateCriterion[] = [whole, readable, forAnyClient, undamaged];

/** The order of formats with video. */
export const videoCriteria: readonly Criterion<VideoCandidate>[] = [
  ...soundCriteria,
  {
    name: 'Not upscaled by the site',
    reason: "YouTube's `-sr` formats: a picture that was invented from a smaller one, which is there as well.",
    compare: lastIf(({ isUpscaled }) => isUpscaled),
  },
  {
    name: 'Higher resolution',
    reason: 'By the shorter side, as people name it: vertical 1080×1920 is 1080p.',
    compare: higher(({ track }) => shorterSide(track) ?? 0),
  },
  {
    name: 'No watermark',
    reason: 'The source calls the copy watermarked.',
    compare: lastIf(({ isWatermarked }) => isWatermarked),
  },
  preference,
  sourcePreference,
  {
    name: 'No audio that is a dub or an audio description',
    reason: 'Of a format that contains audio: it cannot be replaced.',
    compare: lastIf(hasForeignAudio),
  },
  file,
  {
    name: `Higher frame rate, above ${USUAL_FPS}, of what plays everywhere`,
    reason: 'H.264 and AAC in MP4, SDR, up to 1440p: 720p60 as a pair comes before 720p30 that contains its audio.',
    compare: higher(compatibleHighFps),
  },
  {
    name: 'Contained audio before a pair',
    reason: 'Its audio belongs to the video. A separate track may be something else, such as the music that it uses.',
    compare: firstIf(({ track }) => track.audio !== null),
  },
  {
    name: 'MP4 before WebM before other containers',
    reason: 'More players support it, and two MP4 files make one seekable file.',
    compare: lower(({ track }) => containerRank(track.container)),
  },
  {
    name: 'H.264, then AV1, HEVC, VP9, MPEG-4, others',
    reason: 'By support of players for the codec in MP4. An unnamed codec is nearly always H.264, and comes second.',
    compare: lower(({ track }) => videoRank(track.video?.codec)),
  },
  {
    name: 'SDR before HDR',
    reason: 'HDR looks washed out on screens and in players without support for it.',
    compare: lastIf(({ isHdr }) => isHdr),
  },
  {
    name: 'Higher frame rate',
    reason: 'Smoother motion.',
    compare: higher(({ track }) => track.video?.fps ?? 0),
  },
  quality,
  language,
  {
    name: 'Higher bitrate',
    reason: 'Fewer artefacts, other things being equal.',
    compare: higher(({ track }) => track.bitrate ?? 0),
  },
];

/** Which of several languages of the audio. */
export const languageCriteria: readonly CandidateCriterion[] = [
  language,
  {
    name: 'Named as the original',
    reason: 'By the name of the track (`Originalton`), where the source states no language preference.',
    compare: firstIf(({ isOriginalAudio, statesLanguagePreference }) => isOriginalAudio && !statesLanguagePreference),
  },
  {
    name: 'The default track',
    reason: 'yt-dlp marks HLS renditions with DEFAULT=NO by a `source_preference` of -2.',
    compare: lastIf((candidate) => candidate.sourcePreference <= ALTERNATE_SOURCE_PREFERENCE),
  },
];

/** Which of several languages and versions of the audio. */
const audioVersion: readonly CandidateCriterion[] = [
  ...soundCriteria,
  {
    name: 'No audio description',
    reason: 'By `language_preference` or by name: a narrator speaks over the audio.',
    compare: lastIf(({ isAudioDescription }) => isAudioDescription),
  },
  ...languageCriteria,
  {
    name: 'No voice boost',
    reason: "YouTube's `-vb` formats: voices that were raised by a model.",
    compare: lastIf(({ isVoiceBoosted }) => isVoiceBoosted),
  },
  {
    name: 'Uncompressed dynamic range',
    reason: 'Loudness as recorded: YouTube lists a compressed copy (DRC) beside each track.',
    compare: lastIf(({ isDrc }) => isDrc),
  },
  preference,
];

const audioQuality: readonly CandidateCriterion[] = [
  quality,
  {
    name: 'FLAC and ALAC, then PCM, then others',
    reason: 'Lossless audio is complete at any bitrate; PCM is the same in more bytes.',
    compare: higher(({ track }) => losslessRank(track)),
  },
  {
    name: `Higher bitrate, Opus weighted ×${OPUS_BITRATE_WEIGHT}`,
    reason: 'Opus sounds as good as AAC at a 20 % higher bitrate.',
    compare: higher(({ track }) => (audioBitrate(track) ?? 0) * (isOpus(track) ? OPUS_BITRATE_WEIGHT : 1)),
  },
  sourcePreference,
  file,
];

/** The order of audio-only formats. The first is the source of conversions. */
export const audioCriteria: readonly CandidateCriterion[] = [...audioVersion, ...audioQuality];

const aac: CandidateCriterion = {
  name: 'AAC',
  reason: 'Every player of MP4 supports it.',
  compare: firstIf(({ track }) => isAac(track)),
};

/** The order of audio-only formats as the audio of one video without audio. */
export const partnerCriteria = (video: Pick<Candidate, 'track' | 'manifestUrl'>): readonly CandidateCriterion[] => [
  ...audioVersion,
  aac,
  {
    name: 'Of the same manifest, then of the same delivery',
    reason: 'Both tracks then have one timeline.',
    compare: higher(
      ({ track, manifestUrl }) =>
        Number(track.delivery === video.track.delivery) +
        Number(manifestUrl !== undefined && manifestUrl === video.manifestUrl),
    ),
  },
  ...audioQuality,
];

type Criteria<Subject> = readonly Pick<Criterion<Subject>, 'compare'>[];

/** Best first. Those that no criterion tells apart keep their order. */
export const rank = <Subject>(subjects: readonly Subject[], criteria: Criteria<Subject>): Subject[] =>
  subjects.toSorted((a, b) => order(a, b, criteria));

/** The first that `rank` would give; undefined without any. */
export const best = <Subject>(subjects: readonly Subject[], criteria: Criteria<Subject>): Subject | undefined =>
  subjects.reduce<Subject | undefined>(
    (first, each) => (first === undefined || order(each, first, criteria) < 0 ? each : first),
    undefined,
  );

/** Negative when `a` comes first, 0 when no criterion tells them apart. */
export function order<Subject>(a: Subject, b: Subject, criteria: Criteria<Subject>): number {
  for (const { compare } of criteria) {
    const difference = compare(a, b);
    if (difference !== 0) return difference;
  }
  return 0;
}
