import { deadlineSignal } from '@reelay/concurrency';
import type { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  type HlsLayout,
  type HlsStream,
  type HlsUris,
  writeHlsChapters,
  writeMasterPlaylist,
  writeMediaPlaylist,
} from '@reelay/seekable-media/mp4-hls';
import pLimit from 'p-limit';
import { writeSelection } from '../../../core/api/index.ts';
import { recordingText } from '../../../core/conversions/index.ts';
import { UnsupportedRendition } from '../../../core/errors/index.ts';
import { inMemory, type Opening, type Representation } from '../representation.ts';
import { type LayoutCaches, loadLayout, type PresentationRequest, type Wanted } from './layout-caches.ts';
import { CHAPTERS_NAME, MASTER_NAME, mediaName, NoSuchFile, type PresentationPlan, playlistName } from './plan.ts';

export type WantedPresentation = Wanted<PresentationRequest, HlsLayout>;
type Presentations = LayoutCaches['presentations'];

export function presentationOf(plan: PresentationPlan, opening: Opening, cache: Presentations): WantedPresentation {
  const { found, id, place } = plan;
  const sources = found.tracks.map((_, index) => index);
  return { found, opening, cache, request: { id, sources, isAudio: place !== undefined } };
}

/** @throws NotFound when the presentation has no such playlist, UnsupportedRendition when there is none */
export async function openPlaylist(
  plan: PresentationPlan,
  name: string,
  wanted: WantedPresentation,
): Promise<Representation> {
  const { chapters } = recordingText(plan.found.resource);
  if (chapters && name === CHAPTERS_NAME) return inMemory(plan.head, Buffer.from(writeHlsChapters(chapters)));
  const known = await loadLayout(wanted);
  if (known instanceof Error) return refusePresentation(known);
  const { layout, etag } = known;
  const { audio, place } = plan;
  const uris: HlsUris = {
    file: `${mediaName(place)}?${writeSelection('HlsFile', { audio, entity: withoutQuotes(etag) })}`,
    playlist: (each) => playlistName(each) + (audio === undefined ? '' : `?${writeSelection('HlsFile', { audio })}`),
    chapters: chapters && CHAPTERS_NAME,
  };
  const streams = streamsOf(plan, layout);
  const stream = streams.find((each) => playlistName(each) === name);
  if (!stream && name !== MASTER_NAME) throw new NoSuchFile('No such playlist');
  const text = stream
    ? writeMediaPlaylist(stream, uris)
    : writeMasterPlaylist({ streams: [...streams, ...(await readDubs(plan, streams, wanted))] }, uris);
  return inMemory(plan.head, Buffer.from(text));
}

/** The streams of a presentation, with the place and the name of its audio. */
const streamsOf = ({ place, sound }: PresentationPlan, { streams }: Pick<HlsLayout, 'streams'>) =>
  streams.map((stream): HlsStream => (stream.kind === 'audio' ? { ...stream, place, sound } : stream));

/** Files whose headers are read at a time. */
const PARALLEL_DUBS = 4;
/** Nothing plays before the master playlist is there. */
const MAX_WAIT_MS = 3000;
/** Listed in place of audio whose source fails or takes longer: its own playlist says why, and the rest plays. */
const UNREAD: HlsStream = {
  kind: 'audio',
  codecs: [],
  segments: [],
  isIndependent: true,
  init: { offset: 0, bytes: 0 },
};

/**
 * The audio in further languages. A player refuses a variant stream, and so all of it, when it cannot decode one of its codecs:
 * other codecs are left out unless they are asked for, and files without a layout.
 */
async function readDubs(
  { dubs = [], audio }: PresentationPlan,
  streams: readonly HlsStream[],
  { opening, cache }: WantedPresentation,
): Promise<readonly HlsStream[]> {
  const own = audio === undefined ? streams.find(({ kind }) => kind === 'audio') : undefined;
  const limit = pLimit(PARALLEL_DUBS);
  const { session } = opening;
  const signal = deadlineSignal({ deadline: Date.now() + MAX_WAIT_MS, signal: session.signal });
  const bounded = { ...opening, session: { ...session, signal } };
  const read = async (dub: PresentationPlan): Promise<readonly HlsStream[]> => {
    try {
      const known = await loadLayout(presentationOf(dub, bounded, cache));
      if (known instanceof Error) return [];
      return streamsOf(dub, known.layout).filter((stream) => !own || codecOf(stream) === codecOf(own));
    } catch {
      session.signal.throwIfAborted();
      return streamsOf(dub, { streams: [UNREAD] });
    }
  };
  return (await limit.map(dubs, read)).flat();
}

/** The object type tells MP3 from AAC, which are `mp4a` both; what follows is a profile. */
const codecOf = ({ codecs: [codec = ''] }: HlsStream): string => codec.split('.', 2).join('.');

export const withoutQuotes = (etag: string): string => etag.slice(1, -1);

export function refusePresentation(reason: UnsupportedMp4): never {
  throw new UnsupportedRendition(`An HLS playlist cannot be made of this item: ${reason.message}.`, { cause: reason });
}
