/** Chooses what of an item is sent: one of its chapters, the audio of a language or of all, and the same at other heights. */

import { audioFamily, mp4HoldsAudio, mp4HoldsVideo, videoFamily } from '@reelay/seekable-media/codecs';
import { timeChapters } from '@reelay/seekable-media/parts/chapters';
import { digestOf } from '@reelay/seekable-media/values';
import { type AlbumPosition, tagText } from '../../core/conversions/index.ts';
import { InvalidParameter } from '../../core/errors/index.ts';
import { findSound, listSounds, type Sound } from '../../core/resolve/index.ts';
import { type KeyedRendition, keyedRendition, keyOf, type Resource, type Track } from '../../core/state/index.ts';
import { isMp4File } from '../source/index.ts';
import { type ListFiles, mayBeMp4 } from './list-files.ts';
import { outputFormats, refusal } from './output-formats.ts';
import type { ClipTimes } from './representation.ts';

/** A chapter as a file of its own. */
export interface SelectedChapter {
  readonly title: string;
  readonly clip: ClipTimes;
  /** For its tags: the item is its album. */
  readonly listPlace: AlbumPosition;
}

/** @param number from 1, as GetDetails lists them. @throws InvalidParameter when there is none of the number */
export function selectChapter(resource: Resource, number: number): SelectedChapter {
  const chapters = timeChapters(resource.details?.chapters ?? [], resource.durationSeconds);
  const chapter = chapters[number - 1];
  if (!chapter)
    throw new InvalidParameter(
      chapters.length > 0 ? `The last chapter is number ${chapters.length}.` : 'The item has no chapters.',
    );
  const { title, ...clip } = chapter;
  const album = tagText(resource).title ?? undefined;
  return { title, clip, listPlace: { album, trackNumber: number, chapterTitle: title } };
}

/** Languages of one file: each is a source that is read side by side with the others. */
const MAX_SOUNDS = 16;
const ALL = 'all languages';

/**
 * The rendition with the audio of a language. Its key names the bytes, and need not find anything.
 * @param wanted a language, `original`, or `all` for a video with every language
 * @param isAlone the audio is sent without the video
 * @throws InvalidParameter when there is none, listing the available languages; UnsupportedRendition when MP4 cannot hold it
 */
export function chooseAudio(found: KeyedRendition, wanted: string, isAlone: boolean): KeyedRendition {
  const [first] = found.tracks;
  if (isAlone || !first.video) return chooseAlone(found, wanted);
  const sounds = listSounds(found);
  const isAll = wanted.toLowerCase() === 'all';
  const chosen = isAll && sounds.length > 0 ? sounds : [requireSound(sounds, wanted)];
  const held = mp4HoldsVideo(first.video.codec) ? chosen.filter(isHeld) : [];
  const [only] = chosen;
  if (chosen.length === 1 && only && isOwn(found, only)) return found;
  if (held.length === 0) throw refusal(outputFormats.mp4, 'source');
  return withSounds(found, held, isAll ? ALL : (only?.name ?? ''));
}

/**
 * The audio of an HLS presentation: of every language that is accepted, and in the codec that the rendition has unless any is
 * wanted. Players refuse a variant of which they cannot decode every codec. Undefined: no other language. Further languages are
 * numbered: one keeps its place while its list fails, or takes longer.
 * @param files what is known of lists: a language whose list makes no file is that of another file, if it has one
 */
export function chooseAllFiles(
  found: KeyedRendition,
  isAnyCodec: boolean,
  files: ListFiles,
): KeyedRendition | undefined {
  const familyOf = ({ audio }: Pick<Track, 'audio'>) => audioFamily(audio?.codec ?? 'aac');
  const own = familyOf(found.tracks.find(({ audio }) => audio) ?? { audio: null });
  const list = (isListed: (track: Track) => boolean) =>
    listSounds(found, (track) => isListed(track) && (isAnyCodec || familyOf(track) === own));
  const all = list(mayBeMp4());
  const heard = list((track) =>
    all.some((sound) => sound.track === track) ? mayBeMp4(files)(track) : isMp4File(track),
  );
  const sounds = all.map((sound) => heard.find(({ language }) => language === sound.language) ?? sound);
  const [first] = heard;
  const [original] = sounds;
  if (!first || !original) return undefined;
  const chosen = withSounds(found, sounds.with(sounds.indexOf(first), original).with(0, first), ALL);
  return chosen.sounds && chosen;
}

const isHeld = ({ track }: Sound): boolean => mp4HoldsAudio(track.audio?.codec);

const isOwn = ({ tracks }: KeyedRendition, { track }: Sound): boolean =>
  tracks.find(({ audio }) => audio)?.formatId === track.formatId;

function chooseAlone(found: KeyedRendition, wanted: string): KeyedRendition {
  const tracks = found.tracks.filter(({ audio }) => audio).map((track) => ({ ...track, video: null }));
  const { rendition, track, name } = requireSound(listSounds({ ...found, tracks }), wanted);
  const { resource } = found;
  return !rendition || tracks[0]?.formatId === track.formatId
    ? found
    : { key: keyOf(resource.id, rendition.id), resource, rendition, tracks: [track], version: name };
}

function requireSound(sounds: readonly Sound[], wanted: string): Sound {
  const sound = findSound(sounds, wanted);
  if (sound) return sound;
  const languages = sounds.flatMap(({ language }) => language ?? []);
  const present = languages.length > 0 ? `Available: ${languages.join(', ')}.` : 'The item does not name any language.';
  throw new InvalidParameter(`No audio in ${wanted}. ${present}`);
}

/** @param sounds the first one plays by itself */
function withSounds(found: KeyedRendition, sounds: readonly Sound[], version: string): KeyedRendition {
  const { resource, rendition, tracks } = found;
  const [video] = tracks;
  const [only, ...others] = sounds.slice(0, MAX_SOUNDS);
  if (!only || (others.length === 0 && isOwn(found, only))) return found;
  const chosen = [only, ...others];
  const ids = [video, ...chosen.map(({ track }) => track)].map(({ formatId }) => formatId);
  const key = keyOf(resource.id, digestOf(['audio', rendition.id, ...ids]));
  return {
    key,
    resource,
    rendition,
    tracks: [video, ...chosen.map(({ track }) => track)],
    sounds: chosen.map(({ language, name }) => ({ name, ...(language && { language }) })),
    version,
  };
}

/** More are no help to a player, and each has headers to read. */
const MAX_VARIANTS = 12;

/**
 * The rendition, and one of each other height that a player may change to: in the same codecs, with the same audio, and of what may
 * be read as MP4 files. Its own first, then as GetResource lists them.
 */
export function variantsOf(found: KeyedRendition): readonly KeyedRendition[] {
  const kind = kindOf(found);
  const variants = new Map([[found.rendition.height, found]]);
  for (const rendition of found.resource.renditions) {
    const each = keyedRendition(found.resource, rendition);
    const { height } = rendition;
    if (!each || height === undefined || variants.has(height)) continue;
    if (each.tracks.every(mayBeMp4()) && kindOf(each) === kind) variants.set(height, each);
  }
  return [...variants.values()].slice(0, MAX_VARIANTS);
}

function kindOf({ rendition, tracks }: KeyedRendition): string {
  const { side, label, flaws, language, versions } = rendition;
  const [first, ...others] = tracks;
  const codecs = tracks.map(({ video, audio }) => [
    video && videoFamily(video.codec ?? 'avc1'),
    audio && audioFamily(audio.codec ?? 'aac'),
  ]);
  // Displays of SDR are not asked to show HDR.
  const kind = [side, label.includes('HDR'), flaws, language, versions, codecs, first.delivery];
  return JSON.stringify([...kind, others.map(({ formatId }: Track) => formatId)]);
}
