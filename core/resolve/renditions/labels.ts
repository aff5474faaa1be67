import type { FileType } from '@reelay/seekable-media/codecs';
import type { AudioVersion, Flaw, Rendition } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';
import { type AudioFacts, languageName } from './audio-versions.ts';
import { best, hasForeignAudio, isDamaged, languageCriteria, order, shorterSide, USUAL_FPS } from './criteria.ts';

const RESOLUTION_NAMES: Readonly<Record<number, string>> = { 2160: ' (4K)', 4320: ' (8K)' };
const VERSION_NAMES: Readonly<Record<AudioVersion, string>> = {
  original: 'original',
  dubbed: 'dubbed',
  descriptive: 'descriptive',
  drc: 'DRC',
};
/** As the criteria order them: the most serious first. */
export const FLAWS = [
  'partial',
  'protected',
  'browsers',
  'damaged',
  'upscaled',
  'watermarked',
  'description',
  'dub',
  'boosted',
] as const satisfies Flaw[];

/**
 * What descriptions say, for clients that know the contract alone, unless the source says it. Of audio, the source names the
 * track itself.
 */
const FLAW_NAMES: Readonly<Partial<Record<Flaw, readonly [name: string, said: RegExp]>>> = {
  partial: ['only the first minute is served', /\bfirst minute\b/i],
  protected: ['possibly DRM protected', /\bdrm\b/i],
  browsers: ['for browsers only', /\bbrowsers\b/i],
  damaged: ['damaged or unplayable', /\bdamaged\b|\bunplayable\b/i],
  upscaled: ['AI-upscaled', /\bAI[- ]upscaled\b/i],
  boosted: ['voice boost', /\bvoice boost/i],
  watermarked: ['watermarked', /(?<!\b(?:no|without|non|un)[ -]?)watermark(?:ed)?\b(?!-free)/i],
};

/** `1080p60 HDR` for video of a known resolution, else the bitrate, else the container. */
export function videoLabel(candidate: Candidate, bitrate: number | undefined, type: FileType): string {
  const lines = shorterSide(candidate.track);
  if (!lines) return audioLabel(bitrate, type);
  const fps = unusualFps(candidate) ?? '';
  return `${lines}p${fps}${candidate.isHdr ? ' HDR' : ''}${RESOLUTION_NAMES[lines] ?? ''}`;
}

/** `129 kbps`, else the container. @param bitrate kbit/s */
export const audioLabel = (bitrate: number | undefined, { fileExtension }: FileType): string =>
  bitrate ? `${Math.round(bitrate)} kbps` : fileExtension.slice(1).toUpperCase();

/** The source's description of a video, with a high frame rate and HDR where it does not mention them. */
export function videoDescription(candidate: Candidate): string | null {
  const description = candidate.track.description ?? '';
  const fps = unusualFps(candidate);
  const isFpsNamed = fps === undefined || new RegExp(`p${fps}|\\b${fps} ?fps`, 'i').test(description);
  return withFacts(description, [!isFpsNamed && `${fps} fps`, candidate.isHdr && 'HDR']);
}

function unusualFps({ track }: Candidate): number | undefined {
  const fps = Math.round(track.video?.fps ?? 0);
  return fps > USUAL_FPS ? fps : undefined;
}

/**
 * Names language and version of the audio: in descriptions always, in labels what tells the renditions apart
 * (`129 kbps German (dubbed)`), so that those of one language stay short.
 * @param renditions of one side
 * @param factsOf what is known of the audio of one; undefined: it is silent
 */
export function nameAudio(
  renditions: readonly Rendition[],
  factsOf: (rendition: Rendition) => AudioFacts | undefined,
): Rendition[] {
  const all = renditions.flatMap((rendition) => factsOf(rendition) ?? []);
  const languages = new Set(all.flatMap(({ language }) => language ?? []));
  const isOriginalAlone = all.every(({ versions }) => versions.includes('original'));
  return renditions.map((rendition) => {
    const facts = factsOf(rendition);
    if (!facts) return rendition;
    const { language, versions } = facts;
    const name = language && languageName(language);
    const named = versions.map((version) => VERSION_NAMES[version]);
    const apart = isOriginalAlone ? named.filter((version) => version !== VERSION_NAMES.original) : named;
    const showsLanguage = languages.size > 1 || versions.includes('dubbed');
    const label = [rendition.label, showsLanguage ? name : '', apart.length > 0 ? `(${apart.join(', ')})` : ''];
    return {
      ...rendition,
      ...(language && { language }),
      ...(versions.length > 0 && { versions }),
      label: label.filter(Boolean).join(' '),
      description: withFacts(rendition.description ?? '', [name, ...named]),
    };
  });
}

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
    return flaws.length > 0 ? { ...rendition, flaws, description: withNames(rendition.description, flaws) } : rendition;
  });
}

const withNames = (description: string | null, flaws: readonly Flaw[]): string | null =>
  withFacts(
    description ?? '',
    flaws.map((flaw) => {
      const [name, said] = FLAW_NAMES[flaw] ?? [];
      return !said?.test(description ?? '') && name;
    }),
  );

/** @param original audio that others are dubs of: the best language among formats of audio alone */
function flawsOf(candidate: Candidate, original: Candidate | undefined): readonly Flaw[] {
  const { track, isAudioDescription } = candidate;
  const hasAudio = track.audio !== null;
  const isDub = track.video ? hasForeignAudio(candidate) : original !== undefined && isDubOf(candidate, original);
  const found: Readonly<Record<Flaw, boolean>> = {
    partial: candidate.stopsEarly === true,
    protected: candidate.mayHaveDrm,
    browsers: candidate.needsImpersonation,
    damaged: isDamaged(candidate),
    upscaled: candidate.isUpscaled,
    watermarked: track.video !== null && candidate.isWatermarked,
    description: hasAudio && isAudioDescription,
    dub: !isAudioDescription && isDub,
    boosted: candidate.isVoiceBoosted,
  };
  return FLAWS.filter((flaw) => found[flaw]);
}

/** Another track of the same language is no dub; where a language is unknown, the preference alone tells. */
function isDubOf(candidate: Candidate, original: Candidate): boolean {
  const [language, spoken] = [candidate.track.language, original.track.language];
  if (!language || !spoken) return candidate.languagePreference < original.languagePreference;
  return language !== spoken && order(candidate, original, languageCriteria) > 0;
}

/** What an earlier version has stored has the words of the source alone. */
export const flawsSaid = ({ description }: Pick<Rendition, 'description'>): readonly Flaw[] =>
  FLAWS.filter((flaw) => FLAW_NAMES[flaw]?.[1].test(description ?? ''));

/** Whether its source serves all of it, as far as is known. */
export const isWhole = ({ flaws = [] }: Pick<Rendition, 'flaws'>): boolean => !flaws.includes('partial');

/** Appends what a text does not contain. */
function withFacts(text: string, facts: readonly (string | false | undefined)[]): string | null {
  const missing = facts.filter((fact) => fact && !text.toLowerCase().includes(fact.toLowerCase()));
  return [text, ...missing].filter(Boolean).join(', ') || null;
}

/** Adds the format ids to descriptions of renditions that nothing else tells apart. */
export function withDistinctDescriptions(renditions: readonly Rendition[]): Rendition[] {
  const seen = new Set<string>();
  return renditions.map((rendition) => {
    const { side, label, fileExtension, formatIds } = rendition;
    const textOf = (description: string | null) => JSON.stringify([side, label, fileExtension, description]);
    let { description } = rendition;
    while (seen.has(textOf(description))) description = `${description ?? ''} (${formatIds.join(' + ')})`.trimStart();
    seen.add(textOf(description));
    return { ...rendition, description };
  });
}
