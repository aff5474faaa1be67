import type { Flaw, Rendition } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';
import { best, languageCriteria, order } from './criteria.ts';
import { hasForeignAudio, isDamaged } from './traits.ts';

/** As the criteria order them: the most serious first. */
const FLAWS = ['protected', 'browsers', 'damaged', 'watermarked', 'description', 'dub'] as const satisfies Flaw[];

/**
 * What descriptions say, for clients that know the contract alone, unless the source says it. Of audio, the source names the
 * track itself.
 */
const NAMES: Readonly<Partial<Record<Flaw, readonly [name: string, said: RegExp]>>> = {
  protected: ['possibly DRM protected', /\bdrm\b/i],
  browsers: ['for browsers only', /\bbrowsers\b/i],
  damaged: ['damaged or unplayable', /\bdamaged\b|\bunplayable\b/i],
  watermarked: ['watermarked', /(?<!\b(?:no|without|non|un)[ -]?)watermark(?:ed)?\b(?!-free)/i],
};

/** Adds to renditions, and to their descriptions, the flaws of their tracks. @param candidates all formats of the item */
export function withFlaws(renditions: readonly Rendition[], candidates: readonly Candidate[]): Rendition[] {
  const original = best(
    candidates.filter(({ track, isAudioDescription }) => !track.video && !isAudioDescription),
    languageCriteria,
  );
  const found = new Map(candidates.map((each) => [each.track.formatId, flawsOf(each, original)]));
  return renditions.map((rendition) => {
    const ofTracks = rendition.formatIds.flatMap((formatId) => found.get(formatId) ?? []);
    const flaws = FLAWS.filter((flaw) => ofTracks.includes(flaw));
    return flaws.length > 0 ? { ...rendition, flaws, description: describe(rendition.description, flaws) } : rendition;
  });
}

function describe(description: string | null, flaws: readonly Flaw[]): string | null {
  const text = description ?? '';
  const missing = flaws.flatMap((flaw) => {
    const [name, said] = NAMES[flaw] ?? [];
    return name && !said?.test(text) ? [name] : [];
  });
  return [text, ...missing].filter(Boolean).join(', ') || null;
}

/** @param original audio that others are dubs of: the best language among formats of audio alone */
function flawsOf(candidate: Candidate, original: Candidate | undefined): readonly Flaw[] {
  const { track, isAudioDescription } = candidate;
  const hasAudio = track.audio !== null;
  const isDub = track.video ? hasForeignAudio(candidate) : original !== undefined && isDubOf(candidate, original);
  const found: Readonly<Record<Flaw, boolean>> = {
    protected: candidate.mayHaveDrm,
    browsers: candidate.needsImpersonation,
    damaged: isDamaged(candidate),
    watermarked: track.video !== null && candidate.isWatermarked,
    description: hasAudio && isAudioDescription,
    dub: !isAudioDescription && isDub,
  };
  return FLAWS.filter((flaw) => found[flaw]);
}

/** Another track of the same language is no dub; where a language is unknown, the preference alone tells. */
function isDubOf(candidate: Candidate, original: Candidate): boolean {
  const [language, spoken] = [candidate.track.language, original.track.language];
  if (!language || !spoken) return candidate.languagePreference < original.languagePreference;
  return language !== spoken && order(candidate, original, languageCriteria) > 0;
}

type Described = Pick<Rendition, 'flaws' | 'versions' | 'description'>;

/** What an earlier version has stored has the words of the source alone. */
const flawsSaid = ({ description }: Described): readonly Flaw[] =>
  FLAWS.filter((flaw) => NAMES[flaw]?.[1].test(description ?? ''));

/** A flaw outweighs all those after it together, as criteria do. The least is a compressed dynamic range. */
function severityOf(rendition: Described): number {
  const { flaws = flawsSaid(rendition), versions = [] } = rendition;
  const applies = [...FLAWS.map((flaw) => flaws.includes(flaw)), versions.includes('drc')];
  return applies.reduce((sum, isFlawed) => sum * 2 + Number(isFlawed), 0);
}

/**
 * Those among which a wish may select: none that is more flawed than one that ranks above it.
 * @param ranked best first
 */
export function withoutInferior<Ranked extends Described>(ranked: readonly Ranked[]): Ranked[] {
  let least = Number.POSITIVE_INFINITY;
  return ranked.filter((each) => {
    const severity = severityOf(each);
    const isSound = severity <= least;
    least = Math.min(least, severity);
    return isSound;
  });
}
