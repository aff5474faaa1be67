import type { Rendition, Resource, Track } from '../../../../core/state/resource.ts';
import { audioTrack, renditionOf, resourceOf, videoTrack } from '../../fixture.ts';

/** An audio of an item: its language is also its format id. */
export interface Dub {
  readonly language: string;
  readonly track?: Partial<Track>;
  readonly rendition?: Partial<Rendition>;
}

const audioRendition = (formatId: string, traits: Partial<Rendition> = {}): Rendition => ({
  ...renditionOf([formatId]),
  id: `audio-${formatId}`.slice(0, 11).padEnd(11, '_'),
  side: 'audio',
  fileExtension: '.m4a',
  mimeType: 'audio/mp4',
  ...traits,
});

/** An item whose video is paired with the first of some languages. */
export function itemOf(dubs: readonly Dub[], video: Track = videoTrack(), traits: Partial<Resource> = {}): Resource {
  const audio = dubs.map(({ language, track }) => audioTrack({ formatId: language, ...track }));
  const renditions = dubs.map(({ language, rendition }) => audioRendition(language, { language, ...rendition }));
  return resourceOf([video, ...audio], {
    durationSeconds: 8,
    ...traits,
    renditions: [renditionOf([video.formatId, audio[0]?.formatId ?? '']), renditionOf([video.formatId]), ...renditions],
  });
}
