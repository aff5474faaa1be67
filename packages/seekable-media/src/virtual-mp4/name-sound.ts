import { box, fullBox, type OutputTrack, u32 } from '../isobmff/index.ts';
import { packLanguage } from '../text/text-track.ts';

/** What a track of audio is called in a file. */
export interface SoundName {
  /** BCP 47; absent if unknown. */
  readonly language?: string;
  /** As menus of players show it: `German`. */
  readonly name: string;
}

/** `alternate_group` of `tkhd` (ISO/IEC 14496-12 §8.3.2.3): of the tracks of one group, players play one. */
const ALTERNATE_GROUP = 1;
/** In the 60 bytes after the duration: behind two reserved fields and the layer. */
const ALTERNATE_GROUP_AT = 10;

/**
 * The tracks of a file with languages and names. Of several, the first is the one that plays by itself: the others are not
 * enabled.
 * @param tracks the video, then the audio
 * @param sounds of the audio, in its order. Absent: all stays as it is
 */
export function nameSounds<Track extends Pick<OutputTrack, 'header'>>(
  [video, ...audio]: readonly Track[],
  sounds: readonly SoundName[] | undefined,
): readonly (Track & OutputTrackNames)[] {
  const named = audio.map((track, index) => {
    const sound = sounds?.[index];
    return sound ? nameSound(track, sound, audio.length > 1 ? index : undefined) : track;
  });
  return video ? [video, ...named] : named;
}

type OutputTrackNames = Pick<OutputTrack, 'isDisabled' | 'metadata'>;

/** @param place among several. Absent: it is the only one */
function nameSound<Track extends Pick<OutputTrack, 'header'>>(
  track: Track,
  { language, name }: SoundName,
  place: number | undefined,
): Track & OutputTrackNames {
  const { header } = track;
  const presentation = Buffer.from(header.presentation);
  if (place !== undefined) presentation.writeUInt16BE(ALTERNATE_GROUP, ALTERNATE_GROUP_AT);
  const code = Buffer.alloc(4);
  code.writeUInt16BE(packLanguage(language ?? 'und'));
  const handler = [u32(0), Buffer.from('soun', 'latin1'), Buffer.alloc(12), Buffer.from(`${name}\0`)];
  const media = [
    fullBox('hdlr', 0, 0, ...handler),
    ...(language ? [fullBox('elng', 0, 0, Buffer.from(`${language}\0`, 'latin1'))] : []),
  ];
  return {
    ...track,
    header: { ...header, presentation, language: code, media },
    isDisabled: place !== undefined && place > 0,
    // Players read the one or the other.
    metadata: box('udta', box('name', Buffer.from(name))),
  };
}
