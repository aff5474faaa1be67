import { audioFamily, type FileType, fileType, videoFamily, videoRank } from '@reelay/seekable-media/codecs';
import { capabilitiesOf, type Track } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';

/** A format with video, and the audio that it is muxed with. */
export interface VideoCandidate extends Candidate {
  readonly partner?: Candidate;
}

/** File formats by how many players support them, best first; any other is below. */
const CONTAINERS = [/^(?:mp4|m4v)$/, /^(?:webm|mov)$/];

/** Above this, devices that decode H.264 in hardware are rare. Pixels of the shorter side. */
const MAX_COMPATIBLE_HEIGHT = 1440;
const COMPATIBLE_EXTENSIONS = ['.mp4', '.m4v', '.m4a', '.mp3', '.aac'];
/** A yt-dlp `preference` at or below this marks a format as damaged or unplayable. */
const DAMAGED_PREFERENCE = -10;
/** yt-dlp's default `language_preference`: a lower one is a dub or an audio description. */
const UNSPECIFIED_LANGUAGE_PREFERENCE = -1;
/** Codecs, or of files without a named one their containers, that lose nothing, and those of them that compress. */
const LOSSLESS = /^(?:pcm(?!_(?:mu|a)law)|lpcm|sowt|twos|wav|aiff?|flac|alac)/i;
const COMPRESSED_LOSSLESS = /^(?:flac|alac)/i;

/** By how many players support a container; lower is better. */
function containerRank(container: string): number {
  const index = CONTAINERS.findIndex((pattern) => pattern.test(container));
  return index < 0 ? CONTAINERS.length : index;
}

/**
 * The figure that names a resolution (`1080p`): the shorter side in pixels, so that vertical video compares with
 * horizontal.
 */
export function shorterSide({ video }: Pick<Track, 'video'>): number | undefined {
  if (!video?.height) return undefined;
  return Math.min(video.height, video.width ?? video.height);
}

/** kbit/s of the audio alone; of a track without separate figures, of the whole track. */
export const audioBitrate = (track: Track): number | undefined => track.audio?.bitrate ?? track.bitrate;

const family = (track: Track) => (track.audio?.codec ? audioFamily(track.audio.codec) : undefined);

export const isOpus = (track: Track): boolean => family(track) === 'opus';

/** Audio of an unknown codec in MP4 is nearly always AAC. */
export const isAac = (track: Track): boolean =>
  family(track) === 'aac' || (!track.audio?.codec && /^(?:mp4|m4a|aac)$/.test(track.container));

/** 2 for FLAC and ALAC, 1 for PCM, which holds the same in more bytes, 0 for what has lost something. */
function losslessRank({ audio, container }: Track): number {
  const name = audio?.codec ?? container;
  return Number(LOSSLESS.test(name)) + Number(COMPRESSED_LOSSLESS.test(name));
}

/** Segments are sent as MP4, whatever their format is. */
export const outputType = (track: Track): FileType =>
  fileType(capabilitiesOf(track).isFile ? track.container : 'mp4', track.video !== null);

/**
 * Whether any device of the last ten years plays these tracks in a file with this extension. Unknown codecs in MP4 are
 * nearly always H.264 and AAC.
 * @param height pixels of the shorter side
 */
export function playsEverywhere(tracks: readonly Track[], fileExtension: string, height = 0): boolean {
  const isCommon = ({ video, audio }: Track) =>
    (!video?.codec || videoFamily(video.codec) === 'h264') &&
    (!audio?.codec || ['aac', 'mp3'].includes(audioFamily(audio.codec) ?? ''));
  return COMPATIBLE_EXTENSIONS.includes(fileExtension) && height <= MAX_COMPATIBLE_HEIGHT && tracks.every(isCommon);
}

/** Frame rates up to this are usual. */
export const USUAL_FPS = 30;

/** Frames per second beyond the usual in SDR that plays everywhere; 0 otherwise. */
function compatibleHighFps({ track, partner, isHdr }: VideoCandidate): number {
  const fps = Math.round(track.video?.fps ?? 0);
  if (fps <= USUAL_FPS || isHdr) return 0;
  const tracks = partner ? [track, partner.track] : [track];
  const { fileExtension } = partner ? fileType('mp4', true) : outputType(track);
  return playsEverywhere(tracks, fileExtension, shorterSide(track)) ? fps : 0;
}

/** Whether the host stops it early, or either track of a pair. */
const stopsEarly = (candidate: VideoCandidate): boolean =>
  [candidate, candidate.partner].some((each) => each?.stopsEarly);

export const isDamaged = ({ preference }: Candidate): boolean => preference <= DAMAGED_PREFERENCE;

/** Whether a format whose audio cannot be replaced has that of another language, or an audio description. */
export const hasForeignAudio = ({ track, languagePreference, isAudioDescription }: Candidate): boolean =>
  track.audio !== null && (isAudioDescription || languagePreference < UNSPECIFIED_LANGUAGE_PREFERENCE);

/**
 * Tells which of two candidates is preferred. A list of criteria is applied in order: the first that differs decides.
 */
export interface Criterion<Subject> {
  /** What comes first, as `npm run dev -- docs ranking` lists it. */
  readonly name: string;
  /** Negative when `a` comes first, 0 when the criterion does not tell them apart. */
  readonly compare: (a: Subject, b: Subject) => number;
}

/** Prefers the preferHigher value. */
const preferHigher =
  <Subject>(figure: (subject: Subject) => number) =>
  (a: Subject, b: Subject): number =>
    figure(b) - figure(a);

/** Prefers the lower value. */
const preferLower =
  <Subject>(figure: (subject: Subject) => number) =>
  (a: Subject, b: Subject): number =>
    figure(a) - figure(b);

/** Prefers those to which it applies. */
const preferIf = <Subject>(applies: (subject: Subject) => boolean) =>
  preferHigher<Subject>((subject) => Number(applies(subject)));

/** Prefers those to which it does not apply. */
const avoidIf = <Subject>(applies: (subject: Subject) => boolean) =>
  preferLower<Subject>((subject) => Number(applies(subject)));

type CandidateCriterion = Criterion<Candidate>;

/** yt-dlp's `source_preference` of an HLS rendition with DEFAULT=NO or AUTOSELECT=NO. */
const ALTERNATE_SOURCE_PREFERENCE = -2;
/** Opus sounds as good as AAC at a 20 % preferHigher bitrate. */
const OPUS_BITRATE_WEIGHT = 1.2;

const whole: CandidateCriterion & Criterion<VideoCandidate> = {
  // Some hosts (`PROBED_HOSTS`) refuse the rest to clients that they do not trust. The audio of a pair counts as well.
  name: 'Not refused after its first minute',
  compare: avoidIf(stopsEarly),
};

const readable: CandidateCriterion = {
  // `has_drm: "maybe"`: the manifest mentions DRM, and often cannot be decrypted.
  name: 'Not possibly DRM protected',
  compare: avoidIf(({ mayHaveDrm }) => mayHaveDrm),
};

const forAnyClient: CandidateCriterion = {
  // `impersonate`: the site checks for the TLS of a browser, which media requests do not imitate.
  name: 'Not only for browsers',
  compare: avoidIf(({ needsImpersonation }) => needsImpersonation),
};

const undamaged: CandidateCriterion = {
  // A `preference` of -10 or less: YouTube's damaged formats, TikTok's own codec. They come last whatever their resolution.
  name: 'Not marked as damaged or unplayable',
  compare: avoidIf(isDamaged),
};

const preference: CandidateCriterion = {
  // The rating by the extractor: re-encoded copies and 3gp files are lower.
  name: 'Higher `preference`',
  compare: preferHigher((candidate) => candidate.preference),
};

const sourcePreference: CandidateCriterion = {
  // The extractor's rating of servers and copies: an original file before its re-encoding.
  name: 'Higher `source_preference`',
  compare: preferHigher((candidate) => candidate.sourcePreference),
};

const quality: CandidateCriterion = {
  // The source's own scale.
  name: 'Higher `quality`',
  compare: preferHigher((candidate) => candidate.quality),
};

const language: CandidateCriterion = {
  // The original language before a dub.
  name: 'Higher `language_preference`',
  compare: preferHigher((candidate) => candidate.languagePreference),
};

const file: CandidateCriterion = {
  // A file always has a length and ranges: it can be resumed, and players can seek in it.
  name: 'A file before HLS and DASH',
  compare: preferIf(({ track }) => capabilitiesOf(track).isFile),
};

/** Whether a format can be expected to play at all. */
export const soundCriteria: readonly CandidateCriterion[] = [whole, readable, forAnyClient, undamaged];

/** The order of formats with video. */
export const videoCriteria: readonly Criterion<VideoCandidate>[] = [
  ...soundCriteria,
  {
    // YouTube's `-sr` formats: a picture that was invented from a smaller one, which is there as well.
    name: 'Not upscaled by the site',
    compare: avoidIf(({ isUpscaled }) => isUpscaled),
  },
  {
    // By the shorter side, as people name it: vertical 1080×1920 is 1080p.
    name: 'Higher resolution',
    compare: preferHigher(({ track }) => shorterSide(track) ?? 0),
  },
  {
    // The source calls the copy watermarked.
    name: 'No watermark',
    compare: avoidIf(({ isWatermarked }) => isWatermarked),
  },
  preference,
  sourcePreference,
  {
    // Of a format that contains audio: it cannot be replaced.
    name: 'No audio that is a dub or an audio description',
    compare: avoidIf(hasForeignAudio),
  },
  file,
  {
    // H.264 and AAC in MP4, SDR, up to 1440p: 720p60 as a pair comes before 720p30 that contains its audio.
    name: `Higher frame rate, above ${USUAL_FPS}, of what plays everywhere`,
    compare: preferHigher(compatibleHighFps),
  },
  {
    // Its audio belongs to the video. A separate track may be something else, such as the music that it uses.
    name: 'Contained audio before a pair',
    compare: preferIf(({ track }) => track.audio !== null),
  },
  {
    // More players support it, and two MP4 files make one seekable file.
    name: 'MP4 before WebM before other containers',
    compare: preferLower(({ track }) => containerRank(track.container)),
  },
  {
    // By support of players for the codec in MP4. An unnamed codec is nearly always H.264, and comes second.
    name: 'H.264, then AV1, HEVC, VP9, MPEG-4, others',
    compare: preferLower(({ track }) => videoRank(track.video?.codec)),
  },
  {
    // HDR looks washed out on screens and in players without support for it.
    name: 'SDR before HDR',
    compare: avoidIf(({ isHdr }) => isHdr),
  },
  {
    // Smoother motion.
    name: 'Higher frame rate',
    compare: preferHigher(({ track }) => track.video?.fps ?? 0),
  },
  quality,
  language,
  {
    // Fewer artefacts, other things being equal.
    name: 'Higher bitrate',
    compare: preferHigher(({ track }) => track.bitrate ?? 0),
  },
];

/** Which of several languages of the audio. */
export const languageCriteria: readonly CandidateCriterion[] = [
  language,
  {
    // By the name of the track (`Originalton`), where the source states no language preference.
    name: 'Named as the original',
    compare: preferIf(({ isOriginalAudio, statesLanguagePreference }) => isOriginalAudio && !statesLanguagePreference),
  },
  {
    // yt-dlp marks HLS renditions with DEFAULT=NO by a `source_preference` of -2.
    name: 'The default track',
    compare: avoidIf((candidate) => candidate.sourcePreference <= ALTERNATE_SOURCE_PREFERENCE),
  },
];

/** Which of several languages and versions of the audio. */
const audioVersion: readonly CandidateCriterion[] = [
  ...soundCriteria,
  {
    // By `language_preference` or by name: a narrator speaks over the audio.
    name: 'No audio description',
    compare: avoidIf(({ isAudioDescription }) => isAudioDescription),
  },
  ...languageCriteria,
  {
    // YouTube's `-vb` formats: voices that were raised by a model.
    name: 'No voice boost',
    compare: avoidIf(({ isVoiceBoosted }) => isVoiceBoosted),
  },
  {
    // Loudness as recorded: YouTube lists a compressed copy (DRC) beside each track.
    name: 'Uncompressed dynamic range',
    compare: avoidIf(({ isDrc }) => isDrc),
  },
  preference,
];

const audioQuality: readonly CandidateCriterion[] = [
  quality,
  {
    // Lossless audio is complete at any bitrate; PCM is the same in more bytes.
    name: 'FLAC and ALAC, then PCM, then others',
    compare: preferHigher(({ track }) => losslessRank(track)),
  },
  {
    // Opus sounds as good as AAC at a 20 % higher bitrate.
    name: `Higher bitrate, Opus weighted ×${OPUS_BITRATE_WEIGHT}`,
    compare: preferHigher(({ track }) => (audioBitrate(track) ?? 0) * (isOpus(track) ? OPUS_BITRATE_WEIGHT : 1)),
  },
  sourcePreference,
  file,
];

/** The order of audio-only formats. The first is the source of conversions. */
export const audioCriteria: readonly CandidateCriterion[] = [...audioVersion, ...audioQuality];

const aac: CandidateCriterion = {
  // Every player of MP4 supports it.
  name: 'AAC',
  compare: preferIf(({ track }) => isAac(track)),
};

/** The order of audio-only formats as the audio of one video without audio. */
export const partnerCriteria = (video: Pick<Candidate, 'track' | 'manifestUrl'>): readonly CandidateCriterion[] => [
  ...audioVersion,
  aac,
  {
    // Both tracks then have one timeline.
    name: 'Of the same manifest, then of the same delivery',
    compare: preferHigher(
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
