import { fileType, mp4HoldsAudio, mp4HoldsVideo } from '@reelay/seekable-media/codecs';
import type { TagText } from '@reelay/seekable-media/tags/id3';
import { conversionNames, conversions, mp3SizeBytes } from '../../conversions/index.ts';
import {
  capabilitiesOf,
  type PromisedConversions,
  type Rendition,
  renditionId,
  type Track,
} from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';
import { findAlternates, readAudioFacts } from './audio-versions.ts';
import {
  audioBitrate,
  audioCriteria,
  best,
  outputType,
  partnerCriteria,
  rank,
  type VideoCandidate,
  videoCriteria,
} from './criteria.ts';
import {
  audioLabel,
  isWhole,
  nameAudio,
  videoDescription,
  videoLabel,
  withDistinctDescriptions,
  withFlaws,
} from './labels.ts';

/** What of an item is offered to clients. */
export interface RenditionSelection {
  /** Video before audio, each best first. */
  readonly renditions: readonly Rendition[];
  /** The tracks of these renditions, each once. */
  readonly tracks: readonly Track[];
  /** Which conversions to offer, without their sizes. */
  readonly conversions: PromisedConversions;
  /** The rendition that they read; absent when none is offered. */
  readonly conversionOf?: string;
}

/** @param found the tracks of an item, best first as yt-dlp sorts them */
export function selectRenditions(found: readonly Candidate[]): RenditionSelection {
  const candidates = found.map((candidate) => withoutUncertainAudio(candidate, found));
  const audio = rank(
    candidates.filter(({ track }) => !track.video && track.audio),
    audioCriteria,
  );
  const video = candidates.filter(({ track }) => track.video);
  const facts = readAudioFacts(candidates);
  const sides = [selectVideo(video, audio), audio.map(({ track }) => audioRendition(track))];
  // The last format of a pair is its audio.
  const named = sides.flatMap((side) => nameAudio(side, ({ formatIds }) => facts.get(formatIds.at(-1) ?? '')));
  // Without audio alone, GetResource lists video among audio.
  const audible = rank(
    video.filter(({ track }) => track.audio),
    videoCriteria,
  );
  const alternates = findAlternates(audio.length > 0 ? audio : audible, facts);
  const renditions = withDistinctDescriptions(withFlaws(named, candidates)).map((rendition) =>
    rendition.urlType === 'Media' && alternates.has(rendition.formatIds[0])
      ? { ...rendition, isAlternate: true as const }
      : rendition,
  );
  const used = new Set(renditions.flatMap(({ formatIds }) => formatIds));
  const tracks = candidates.map(({ track }) => track).filter(({ formatId }) => used.has(formatId));
  return { renditions, tracks, ...offerConversions(renditions, tracks) };
}

/**
 * An HLS variant whose audio is only assumed has none where its multivariant playlist lists audio: it probably names that
 * audio by AUDIO. Pairing it, where that is possible, gives it audio in either case.
 */
function withoutUncertainAudio(candidate: Candidate, all: readonly Candidate[]): Candidate {
  const { track, manifestUrl } = candidate;
  const isUncertain = capabilitiesOf(track).mayOmitCodecs && track.video && track.audio && !track.audio.codec;
  if (!isUncertain || !manifestUrl || !mp4HoldsVideo(track.video.codec)) return candidate;
  const isPairable = all.some(
    (other) => !other.track.video && other.manifestUrl === manifestUrl && mp4HoldsAudio(other.track.audio?.codec),
  );
  return isPairable ? { ...candidate, track: { ...track, audio: null } } : candidate;
}

/** Best first. Video that would be silent is offered only when none of the item can have audio. */
function selectVideo(video: readonly Candidate[], audio: readonly Candidate[]): Rendition[] {
  const supported = audio.filter(({ track }) => mp4HoldsAudio(track.audio?.codec));
  const findPartner = createPartnerSearch(supported);
  const paired = video.map((candidate): VideoCandidate => ({ ...candidate, partner: findPartner(candidate) }));
  const withAudio = paired.filter(({ track, partner }) => track.audio || partner);
  return rank(withAudio.length > 0 ? withAudio : paired, videoCriteria).map((candidate) =>
    candidate.partner ? combinedRendition(candidate, candidate.partner.track) : videoRendition(candidate),
  );
}

/**
 * Returns what finds the audio to mux with a video-only track. Videos of the same source have the same one.
 * @param supported audio that MP4 can hold
 */
function createPartnerSearch(supported: readonly Candidate[]): (video: Candidate) => Candidate | undefined {
  const manifests = new Set(supported.map(({ manifestUrl }) => manifestUrl));
  const found = new Map<string, Candidate | undefined>();
  return (video) => {
    const { track, manifestUrl } = video;
    if (track.audio || !mp4HoldsVideo(track.video?.codec)) return undefined;
    const source = `${track.delivery} ${manifests.has(manifestUrl) ? manifestUrl : ''}`;
    if (!found.has(source)) found.set(source, best(supported, partnerCriteria(video)));
    return found.get(source);
  };
}

function videoRendition(candidate: Candidate): Rendition {
  const { track } = candidate;
  const type = outputType(track);
  return {
    ...withId({ side: 'video', urlType: 'Media', formatIds: [track.formatId] }),
    label: videoLabel(candidate, track.bitrate, type),
    description: videoDescription(candidate),
    ...type,
    ...figures({ sizeBytes: track.sizeBytes, height: track.video?.height, bitrate: track.bitrate }),
  };
}

function audioRendition(track: Track): Rendition {
  const bitrate = audioBitrate(track);
  const type = outputType(track);
  return {
    ...withId({ side: 'audio', urlType: 'Media', formatIds: [track.formatId] }),
    label: audioLabel(bitrate, type),
    description: track.description ?? null,
    ...type,
    ...figures({ sizeBytes: track.sizeBytes, bitrate }),
  };
}

function combinedRendition(candidate: Candidate, audio: Track): Rendition {
  const { track: video } = candidate;
  const type = fileType('mp4', true);
  const bitrate = pairBitrate(video, audio);
  return {
    ...withId({ side: 'video', urlType: 'Combined', formatIds: [video.formatId, audio.formatId] }),
    label: videoLabel(candidate, bitrate, type),
    description: [videoDescription(candidate), audio.description].filter(Boolean).join(' + ') || null,
    ...type,
    ...figures({ sizeBytes: sum(video.sizeBytes, audio.sizeBytes), height: video.video?.height, bitrate }),
  };
}

/** kbit/s. */
function pairBitrate(video: Track, audio: Track): number | undefined {
  const added = capabilitiesOf(video).bitrateIncludesAudio ? 0 : (audioBitrate(audio) ?? 0);
  return video.bitrate === undefined ? undefined : video.bitrate + added;
}

const withId = (what: Pick<Rendition, 'side' | 'urlType' | 'formatIds'>) => ({ id: renditionId(what), ...what });

/** Conversions read the best audio rendition, or without one the best rendition that has audio. */
function offerConversions(
  renditions: readonly Rendition[],
  tracks: readonly Track[],
): Pick<RenditionSelection, 'conversions' | 'conversionOf'> {
  const trackOf = ({ formatIds }: Rendition) => tracks.find(({ formatId }) => formatId === formatIds[0]);
  // The first track of a pair has no audio: pairs are never converted.
  const audible = renditions.filter((rendition) => trackOf(rendition)?.audio);
  const whole = audible.filter(isWhole);
  const usable = whole.length > 0 ? whole : audible;
  const best = usable.find(({ side }) => side === 'audio') ?? usable[0];
  if (!best) return { conversions: {} };
  const names = conversionNames.filter((name) => {
    const { listedAs, fileExtension } = conversions[name];
    return listedAs && fileExtension !== best.fileExtension;
  });
  if (names.length === 0) return { conversions: {} };
  return {
    conversions: Object.fromEntries(names.map((name) => [name, { renditionId: best.id }])),
    conversionOf: best.id,
  };
}

/** Adds to the offered conversions the sizes that follow from duration and tag, for their streams to deliver exactly. */
export const promiseConversions = (
  offered: PromisedConversions,
  durationSeconds: number | undefined,
  tag: TagText,
): PromisedConversions =>
  Object.fromEntries(
    conversionNames.flatMap((name) => {
      const promised = offered[name];
      const sizeBytes = durationSeconds && name === 'mp3' ? mp3SizeBytes(durationSeconds, tag) : undefined;
      return promised ? [[name, { renditionId: promised.renditionId, ...(sizeBytes && { sizeBytes }) }]] : [];
    }),
  );

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a !== undefined && b !== undefined ? a + b : undefined;

/** Omits unknown figures: the table keeps no null. */
const figures = ({ sizeBytes, height, bitrate }: Pick<Rendition, 'sizeBytes' | 'height' | 'bitrate'>) => ({
  ...(sizeBytes !== undefined && { sizeBytes }),
  ...(height !== undefined && { height }),
  ...(bitrate !== undefined && { bitrate: Math.round(bitrate * 1000) / 1000 }),
});
