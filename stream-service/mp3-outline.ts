import { id3Tag } from '../layers/extraction/index.ts';
import type { Resource, Track } from '../layers/state/index.ts';
import type { Outline } from './answer.ts';
import { layoutBytes, promisedFrames } from './mp3/layout.ts';

/** What is known of a conversion to MP3 before its source is open. */
export function mp3Outline(resource: Resource, track: Track): Outline {
  const tag = id3Tag({ title: resource.title, artist: resource.author });
  const frames = promisedFrames(resource, track, tag.length);
  // A file that does not say its size cannot be read from any place: then there will be no length either.
  const seekable = track.delivery !== 'direct' || track.sizeBytes !== undefined;
  const size = frames !== undefined && seekable ? layoutBytes({ tagBytes: tag.length, frames }) : undefined;
  const acceptRanges = size !== undefined ? 'bytes' : resource.isLive ? 'none' : undefined;
  return { size, acceptRanges, mimeType: 'audio/mpeg', fileExtension: '.mp3' };
}
