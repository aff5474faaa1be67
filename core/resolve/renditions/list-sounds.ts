import { isMp4Container, mp4HoldsAudio } from '@reelay/seekable-media/codecs';
import { capabilitiesOf, type Rendition, type Resource, type Track } from '../../state/index.ts';
import { languageName, languageTag } from './audio-versions.ts';
import { isAac } from './criteria.ts';
import { severityOf } from './select-quality.ts';

/** The audio of an item in one language. */
export interface Sound {
  readonly track: Track;
  /** BCP 47; absent if unknown. */
  readonly language?: string;
  /** In English: `German`. */
  readonly name: string;
  /** The rendition of the audio alone. Absent: it is in a video only. */
  readonly rendition?: Rendition;
}

interface Candidate extends Sound {
  readonly described: Pick<Rendition, 'flaws' | 'versions' | 'description'>;
  readonly isOwn: boolean;
}

/** A rendition, and its tracks. */
interface Found {
  readonly resource: Pick<Resource, 'renditions' | 'tracks'>;
  readonly rendition: Rendition;
  readonly tracks: readonly Track[];
}

/**
 * The audio that a video of an item can have: the best of each language, the original first, then in the order of
 * GetResource. Of one language, no audio description or DRC is taken beside plain audio; of what is as sound, the audio that
 * the rendition has already, then what suits its container and plays in most players.
 * @param accepts which audio is considered
 */
export function listSounds(found: Found, accepts: (track: Track) => boolean = () => true): readonly Sound[] {
  const candidates = listCandidates(found).filter(({ track }) => accepts(track));
  const languages = [...new Set(candidates.map(({ language }) => language))];
  const byLanguage = languages.map((language) => {
    const [best, ...others] = candidates.filter((candidate) => candidate.language === language);
    return others.reduce((first, each) => (order(each, first, found) < 0 ? each : first), best as Candidate);
  });
  const has = (candidate: Candidate, version: 'original' | 'dubbed') => candidate.described.versions?.includes(version);
  const original =
    byLanguage.find((each) => has(each, 'original')) ??
    byLanguage.find((each) => !has(each, 'dubbed')) ??
    byLanguage[0];
  return original ? [original, ...byLanguage.filter((each) => each !== original)] : [];
}

function listCandidates({ resource: { renditions, tracks }, rendition, tracks: own }: Found): readonly Candidate[] {
  const ownTrack = own.find(({ audio }) => audio);
  const toCandidate = (track: Track, described: Rendition, carrier?: Rendition): Candidate => {
    const language = described.language ?? languageTag(track.language);
    const name = language === undefined ? 'Audio' : languageName(language);
    const isOwn = track.formatId === ownTrack?.formatId;
    return { track, name, described, isOwn, ...(language && { language }), ...(carrier && { rendition: carrier }) };
  };
  const listOf = (side: Rendition['side']) =>
    renditions.flatMap((each) => {
      const track = tracks.find(({ formatId }) => formatId === each.formatIds[0]);
      return each.side === side && each.urlType === 'Media' && track?.audio ? [toCandidate(track, each, each)] : [];
    });
  const alone = listOf('audio');
  const listed = alone.length > 0 ? alone : listOf('video');
  const isListed = !ownTrack || listed.some(({ isOwn }) => isOwn);
  return isListed ? listed : [toCandidate(ownTrack, rendition), ...listed];
}

/** Negative when `a` comes first. */
function order(a: Candidate, b: Candidate, { tracks: [first] }: Found): number {
  const isMp4 = (track: Track) => capabilitiesOf(track).isFile && isMp4Container(track.container);
  const traitsOf = ({ track, isOwn }: Candidate) => [
    isOwn,
    mp4HoldsAudio(track.audio?.codec),
    first && isMp4(first) ? isMp4(track) : track.delivery === first?.delivery,
    isAac(track),
  ];
  const [ours, theirs] = [traitsOf(a), traitsOf(b)];
  const different = ours.findIndex((trait, index) => trait !== theirs[index]);
  return severityOf(a.described) - severityOf(b.described) || (different < 0 ? 0 : ours[different] ? -1 : 1);
}

/**
 * The audio in a language: of exactly that one, else of a variety of it, as `en` finds `en-US`, else of its language, as `de-DE` finds `de`.
 * @param wanted a language as BCP 47 or as sites name it, or `original`
 */
export function findSound(sounds: readonly Sound[], wanted: string): Sound | undefined {
  const name = wanted.toLowerCase();
  if (name === 'original') return sounds[0];
  const tag = (languageTag(wanted) ?? wanted).toLowerCase();
  const matches = (isMatch: (language: string) => boolean) =>
    sounds.find(({ language }) => language !== undefined && isMatch(language.toLowerCase()));
  const primary = tag.split('-', 1)[0];
  return (
    matches((language) => language === tag) ??
    matches((language) => language.startsWith(`${tag}-`)) ??
    matches((language) => language === primary)
  );
}
