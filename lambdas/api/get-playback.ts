import { contentType, isMp4Container } from '@reelay/seekable-media/codecs';
import { type Schema, streamPath } from '../../core/api/index.ts';
import type { SignKey } from '../../core/http/index.ts';
import {
  capabilitiesOf,
  keyOf,
  type Rendition,
  type Resource,
  type Subtitle,
  type Track,
  videoOfPair,
} from '../../core/state/index.ts';
import { type OperationHandler, signKeyFor } from '../http-handler.ts';
import { type ResolveDependencies, singleResource } from './resolve-request.ts';

/** GET /api/Fetch/GetPlayback: what a player can seek in, from the same resolve as GetResource. */
export const createGetPlayback =
  ({ resolveRequest }: ResolveDependencies): OperationHandler =>
  async (event, context) => {
    const { resolved, sent } = await resolveRequest(event, context);
    return { json: toPlayback(singleResource(resolved), sent, signKeyFor(event), event.requestContext.basePath) };
  };

/**
 * The response of GetPlayback: files alone, each in the order of GetResource. Live streams have none.
 * @param requestedUrl as this caller sent it
 * @param signKey signs the keys where the instance is private
 * @param basePath before each path
 */
export function toPlayback(
  resource: Resource,
  requestedUrl: string,
  signKey: SignKey = (key) => key,
  basePath = '',
): Schema<'Playback'> {
  const { title, author, coverUrl, durationSeconds, subtitles = [] } = resource;
  const offered = resource.isLive ? [] : resource.renditions;
  const video = offered.filter(({ side }) => side === 'video');
  const toTracks = (renditions: readonly Rendition[]) =>
    renditions.flatMap((rendition) => {
      const track = toTrack(resource, rendition, signKey);
      return track ? { ...track, path: basePath + track.path } : [];
    });
  return {
    requestedUrl,
    title: title ?? '',
    author: author ?? '',
    coverUrl,
    durationSeconds: durationSeconds ?? null,
    video: toTracks(selectVideo(resource, video)),
    audio: toTracks(offered.filter(({ side }) => side === 'audio')),
    muxed: toTracks(video),
    subtitles: selectSubtitles(subtitles).map(({ id, language, name = language, isAutomatic: automatic }) => {
      const key = signKey(keyOf(resource.id, id));
      return { key, path: basePath + streamPath('Subtitle', key), language, name, automatic };
    }),
  };
}

/**
 * Undefined for what Media may not serve by range: pairs other than of MP4 files, and lists of segments, of which no stream or
 * HEAD has found yet how long their file is.
 */
function toTrack(resource: Resource, rendition: Rendition, signKey: SignKey): Schema<'PlaybackTrack'> | undefined {
  const tracks = tracksOf(resource, rendition);
  const isPair = rendition.urlType === 'Combined';
  const exactBytes = resource.exactSizes?.[rendition.id];
  const isFile = (track: Track) => capabilitiesOf(track).isFile && (!isPair || isMp4Container(track.container));
  if (exactBytes === undefined && !tracks.every(isFile)) return undefined;
  const key = signKey(keyOf(resource.id, rendition.id));
  const { label, description, mimeType, bitrate, sizeBytes } = rendition;
  const codecs = tracks.flatMap(({ video, audio }) => [video, audio].flatMap((traits) => traits ?? []));
  const names = codecs.map(({ codec }) => codec);
  const video = tracks.find((track) => track.video)?.video;
  return {
    key,
    path: streamPath('Media', key),
    label,
    description,
    contentType: contentType(mimeType, names),
    mimeType,
    codec: names.every(Boolean) ? names.join(', ') : null,
    width: video?.width ?? null,
    height: video?.height ?? null,
    fps: video?.fps ?? null,
    bitrate: bitrate ?? null,
    fileSizeBytes: exactBytes ?? sizeBytes ?? null,
  };
}

const tracksOf = ({ tracks }: Resource, { formatIds }: Rendition): readonly Track[] =>
  formatIds.flatMap((formatId) => tracks.find((track) => track.formatId === formatId) ?? []);

/** Video without audio, the best of each height and container; of one height MP4 first, which the most players support. */
function selectVideo(resource: Resource, renditions: readonly Rendition[]): readonly Rendition[] {
  const alone = renditions
    .map((rendition) => videoOfPair(resource, rendition) ?? rendition)
    .filter((rendition) =>
      tracksOf(resource, rendition).every((track) => !track.audio && capabilitiesOf(track).isFile),
    );
  const kindOf = ({ height, mimeType }: Rendition) => `${height} ${mimeType}`;
  const kinds = alone.map(kindOf);
  const isEqual = (a: Rendition, b: Rendition) => a.height === b.height && `${a.flaws ?? ''}` === `${b.flaws ?? ''}`;
  const runs: Rendition[][] = [];
  // Those next to each other are sorted by container: a damaged format stays last, whatever its height and container.
  for (const rendition of alone.filter((one, index) => kinds.indexOf(kindOf(one)) === index)) {
    const run = runs.at(-1);
    if (run?.[0] && isEqual(run[0], rendition)) run.push(rendition);
    else runs.push([rendition]);
  }
  const isMp4 = ({ mimeType }: Rendition) => Number(mimeType === 'video/mp4');
  return runs.flatMap((run) => run.toSorted((a, b) => isMp4(b) - isMp4(a)));
}

/** One of each language: by people, if there is one. */
const selectSubtitles = (subtitles: readonly Subtitle[]): readonly Subtitle[] =>
  subtitles
    .toSorted((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic))
    .filter(({ language }, index, all) => all.findIndex((other) => other.language === language) === index);
