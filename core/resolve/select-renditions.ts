import { conversionNames, conversions } from '../conversions/index.ts';
import {
  audioFamily,
  type FileType,
  fileType,
  mp4HoldsAudio,
  mp4HoldsVideo,
  videoRank,
} from '../media/codecs/index.ts';
import { type PromisedConversions, type Rendition, renditionId, type Track } from '../state/index.ts';
import type { Candidate } from './yt-dlp/index.ts';

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

/** Opus sounds as good as AAC at a 20 % higher bitrate. */
const OPUS_BITRATE_WEIGHT = 1.2;

/** @param candidates the tracks of an item, best first as yt-dlp sorts them */
export function selectRenditions(candidates: readonly Candidate[]): RenditionSelection {
  const audio = candidates.filter(({ track }) => !track.video && track.audio).toSorted(byAudioQuality);
  const video = candidates.filter(({ track }) => track.video).toSorted(byVideoQuality);
  const renditions = [
    ...video.map(({ track }) => videoRendition(track, findAudioFor(track, audio))),
    ...audio.map(({ track }) => mediaRendition('audio', track)),
  ];
  const used = new Set(renditions.flatMap(({ formatIds }) => formatIds));
  const tracks = candidates.map(({ track }) => track).filter(({ formatId }) => used.has(formatId));
  return { renditions, tracks, ...offerConversions(renditions, tracks) };
}

/** By height, then preferred language, then codec support of players for MP4, then fps, then bitrate. */
function byVideoQuality(a: Candidate, b: Candidate): number {
  return (
    (b.track.video?.height ?? 0) - (a.track.video?.height ?? 0) ||
    b.languagePreference - a.languagePreference ||
    videoRank(a.track.video?.codec) - videoRank(b.track.video?.codec) ||
    (b.track.video?.fps ?? 0) - (a.track.video?.fps ?? 0) ||
    (b.track.bitrate ?? 0) - (a.track.bitrate ?? 0)
  );
}

const byAudioQuality = (a: Candidate, b: Candidate): number =>
  b.languagePreference - a.languagePreference || weightedBitrate(b.track) - weightedBitrate(a.track);

const weightedBitrate = (track: Track): number =>
  (audioBitrate(track) ?? 0) * (family(track) === 'opus' ? OPUS_BITRATE_WEIGHT : 1);

/**
 * The audio to mux with a video-only track: the best AAC track, else the best one that MP4 can hold, preferably of the same
 * delivery as the video, since both then share one timeline.
 */
function findAudioFor(video: Track, audio: readonly Candidate[]): Track | undefined {
  if (video.audio || !mp4HoldsVideo(video.video?.codec)) return undefined;
  const supported = audio.map(({ track }) => track).filter((track) => mp4HoldsAudio(track.audio?.codec));
  const aac = supported.filter((track) => isAac(track));
  const choices = aac.length > 0 ? aac : supported;
  return choices.find(({ delivery }) => delivery === video.delivery) ?? choices[0];
}

const videoRendition = (video: Track, partner: Track | undefined): Rendition =>
  partner ? combinedRendition(video, partner) : mediaRendition('video', video);

function mediaRendition(side: Rendition['side'], track: Track): Rendition {
  const bitrate = side === 'audio' ? audioBitrate(track) : track.bitrate;
  const type = outputType(track);
  return {
    ...withId({ side, urlType: 'Media', formatIds: [track.formatId] }),
    label: label(side === 'video' ? track.video?.height : undefined, bitrate, type),
    description: track.description ?? null,
    ...type,
    ...figures({ sizeBytes: track.sizeBytes, height: track.video?.height, bitrate }),
  };
}

function combinedRendition(video: Track, audio: Track): Rendition {
  const type = fileType('mp4', true);
  const bitrate = sum(video.bitrate, audioBitrate(audio));
  return {
    ...withId({ side: 'video', urlType: 'Combined', formatIds: [video.formatId, audio.formatId] }),
    label: label(video.video?.height, bitrate, type),
    description: [video.description, audio.description].filter(Boolean).join(' + ') || null,
    ...type,
    ...figures({ sizeBytes: sum(video.sizeBytes, audio.sizeBytes), height: video.video?.height, bitrate }),
  };
}

const withId = (what: Pick<Rendition, 'side' | 'urlType' | 'formatIds'>) => ({ id: renditionId(what), ...what });

/** HLS and DASH are delivered as MP4, whatever the format of their segments. */
const outputType = (track: Track): FileType =>
  fileType(track.delivery === 'direct' ? track.container : 'mp4', track.video !== null);

function label(height: number | undefined, bitrate: number | undefined, { fileExtension }: FileType): string {
  if (height) return height === 2160 ? '2160p (4K)' : height === 4320 ? '4320p (8K)' : `${height}p`;
  return bitrate ? `${Math.round(bitrate)} kbps` : fileExtension.slice(1).toUpperCase();
}

/** Conversions read the best audio rendition, or without one the best rendition that has audio. */
function offerConversions(
  renditions: readonly Rendition[],
  tracks: readonly Track[],
): Pick<RenditionSelection, 'conversions' | 'conversionOf'> {
  const trackOf = ({ formatIds }: Rendition) => tracks.find(({ formatId }) => formatId === formatIds[0]);
  const audible = renditions.filter((rendition) => rendition.urlType === 'Media' && trackOf(rendition)?.audio);
  const best = audible.find(({ side }) => side === 'audio') ?? audible[0];
  const track = best && trackOf(best);
  const names = track ? conversionNames.filter((name) => conversions[name].isOffered(track)) : [];
  if (!best || names.length === 0) return { conversions: {} };
  return {
    conversions: Object.fromEntries(names.map((name) => [name, { renditionId: best.id }])),
    conversionOf: best.id,
  };
}

const family = (track: Track) => (track.audio?.codec ? audioFamily(track.audio.codec) : undefined);

/** Audio of an unknown codec in MP4 is nearly always AAC. */
const isAac = (track: Track): boolean =>
  family(track) === 'aac' || (!track.audio?.codec && /^(?:mp4|m4a|aac)$/.test(track.container));

const audioBitrate = (track: Track): number | undefined => track.audio?.bitrate ?? track.bitrate;

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a !== undefined && b !== undefined ? a + b : undefined;

/** Omits unknown figures: the table keeps no null. */
const figures = ({ sizeBytes, height, bitrate }: Pick<Rendition, 'sizeBytes' | 'height' | 'bitrate'>) => ({
  ...(sizeBytes !== undefined && { sizeBytes }),
  ...(height !== undefined && { height }),
  ...(bitrate !== undefined && { bitrate: Math.round(bitrate * 1000) / 1000 }),
});
