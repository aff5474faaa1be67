import type { MediaInformation, MediaRendition } from '../api/index.ts';

/** Keys of a private instance have a signature appended, which differs from response to response. */
const unsigned = ({ key }: MediaRendition): string | undefined => key?.split('.', 1)[0];

/**
 * An item with the audio that GetResource leaves out, such as dubs, after what it lists.
 * @param audio all audio of the item, as GetDetails lists it
 */
export function withAllAudio(item: MediaInformation, audio: readonly MediaRendition[] = []): MediaInformation {
  const listed = item.audio?.renditions ?? [];
  const keys = new Set(listed.map(unsigned));
  const added = audio.filter((rendition) => !keys.has(unsigned(rendition)));
  return added.length === 0 ? item : { ...item, audio: { ...item.audio, renditions: [...listed, ...added] } };
}
