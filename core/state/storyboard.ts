import { isMp4Container, videoRank } from '../media/codecs/index.ts';
import { unpackFragments } from '../media/dash/index.ts';
import type { Resource, Storyboard, Track } from './resource.ts';
import { capabilitiesOf } from './track.ts';

/** The storyboard that the site of an item has, with the track of its sheets. Undefined: none, or its list was not stored. */
export function siteStoryboard({
  storyboard,
  tracks,
}: Resource): { readonly storyboard: Storyboard; readonly track: Track } | undefined {
  const track = tracks.find(({ formatId, fragments }) => fragments && formatId === storyboard?.formatId);
  return storyboard && track && { storyboard, track };
}

/** One file of a track that is a list of whole files. @returns undefined when the list is shorter */
export function partOf(track: Track, part: number): Track | undefined {
  const found = track.fragments && unpackFragments(track.fragments).drop(part).next().value;
  const url = found ? URL.parse(found.url, track.fragmentBaseUrl) : null;
  return url ? { ...track, url: url.href, part } : undefined;
}

/** In place of what is unknown. */
const MAX = Number.MAX_SAFE_INTEGER;

/** The file whose keyframes cost least to read, and which every FFmpeg decodes. Undefined: there is none. */
export function keyframeTrack({ isLive, durationSeconds, tracks }: Resource): Track | undefined {
  if (isLive || !durationSeconds) return undefined;
  const isUsable = (track: Track) => track.video && capabilitiesOf(track).isFile && isMp4Container(track.container);
  const rank = ({ video }: Track) => videoRank(video?.codec);
  const height = ({ video }: Track) => video?.height ?? MAX;
  const size = ({ sizeBytes = MAX }: Track) => sizeBytes;
  return tracks.filter(isUsable).toSorted((a, b) => rank(a) - rank(b) || height(a) - height(b) || size(a) - size(b))[0];
}

/** Whether there may be pictures for seeking: those that are made depend on the file, which has not been read. */
export const mayHaveStoryboard = (resource: Resource): boolean =>
  Boolean(siteStoryboard(resource) ?? keyframeTrack(resource));
