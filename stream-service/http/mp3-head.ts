import { tagText } from '../../core/conversions/index.ts';
import { id3Tag } from '../../core/media/id3/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';
import { layoutBytes, mp3Entity, mp3Etag, promisedFrames } from '../conversions/mp3/index.ts';
import { needsRemux } from '../source/index.ts';
import type { RepresentationHead } from './send-representation.ts';

/**
 * What is known of a conversion to MP3 before its source is open.
 * @param build absent while it is not there yet
 */
export function mp3Outline(resource: Resource, track: Track, build: Ffmpeg | undefined): RepresentationHead {
  const tag = id3Tag(tagText(resource));
  const media = { mimeType: 'audio/mpeg', fileExtension: '.mp3' };
  const isFile = !needsRemux(track);
  const frames = promisedFrames(resource, track, tag.length);
  // A file that does not say its size cannot be read from any place: then there will be no length either.
  if (frames === undefined || (isFile && track.sizeBytes === undefined))
    return { ...media, size: undefined, acceptRanges: resource.isLive ? 'none' : undefined };

  const layout = { tagBytes: tag.length, frames };
  // A file has a word in its validator.
  const entity = build && !isFile ? mp3Entity(resource, track, { needsRemux: true }, build) : undefined;
  const etag = entity && mp3Etag(entity, layout, tag);
  return { ...media, size: layoutBytes(layout), acceptRanges: 'bytes', etag };
}
