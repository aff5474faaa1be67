import { resourceId } from '../../../core/state/keys.ts';
import type { Rendition, Resource, Track } from '../../../core/state/resource.ts';

/** A resource with one track, for tests of the table. */
export function aResource(now: number, changes: Partial<Resource> = {}): Resource {
  const origin = { url: 'https://media.example/watch?v=1', extractor: 'Example', entryId: '1' };
  return {
    id: resourceId(origin),
    origin,
    title: 'Größe \u{1f3b5}',
    author: null,
    coverUrl: null,
    durationSeconds: 12.5,
    isLive: false,
    tracks: [aTrack()],
    renditions: [],
    egress: 'direct',
    freshUntil: now + 3600,
    expiresAt: now + 24 * 3600,
    ...changes,
  };
}

export const aRendition = (id: string, changes: Partial<Rendition> = {}): Rendition => ({
  id,
  side: 'video',
  urlType: 'Media',
  formatIds: [id],
  label: id,
  description: null,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  ...changes,
});

export function aTrack(changes: Partial<Track> = {}): Track {
  return {
    formatId: '18',
    delivery: 'direct',
    url: 'https://cdn.example/a.mp4',
    headers: { referer: 'https://media.example/' },
    cookies: [],
    container: 'mp4',
    video: { codec: 'avc1.64001f', height: 360 },
    audio: null,
    sizeIsExact: false,
    ...changes,
  };
}
