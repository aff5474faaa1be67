import type { PredictedRange } from '../../core/http/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import type { OpenSource, Source } from '../source/index.ts';

/** Opens a track until the session ends. */
export async function openTrack(
  openSource: OpenSource,
  { resource }: Pick<KeyedRendition, 'resource'>,
  track: Track,
  session: StreamSession,
  { range, signal = session.signal }: { readonly range?: PredictedRange; readonly signal?: AbortSignal } = {},
): Promise<Source> {
  const source = await openSource(resource, track, signal, range, session.client);
  session.onClose(() => source.close());
  return source;
}

/** Opens all tracks of a rendition concurrently. The first failure aborts the others. */
export function openTracks(openSource: OpenSource, found: KeyedRendition, session: StreamSession): Promise<Source>[] {
  const failed = new AbortController();
  const signal = AbortSignal.any([session.signal, failed.signal]);
  const opening = found.tracks.map((track) => openTrack(openSource, found, track, session, { signal }));
  for (const each of opening) each.catch((error) => failed.abort(error));
  return opening;
}
