import type { Api, AudioVersion, MediaDetails, SkipSegment, SubtitleInformation } from '../api/index.ts';
import type { Format } from '../format.ts';
import { ALL_LANGUAGES, type Choice, languageName } from '../renditions/index.ts';
import { createTtlCache } from '../store.ts';
import type { Texts } from '../texts.ts';
import { usePage } from './context.ts';
import { useAttempts, useLoaded } from './hooks.ts';
import { toFailure } from './session.ts';

export interface LoadedDetails extends MediaDetails {
  /** When the site serves the media, in epoch milliseconds of this device. */
  readonly availableAtMs: number;
}

/** Loads the details of one item. @throws ApiFailure */
export async function loadDetails(api: Api, link: string): Promise<LoadedDetails> {
  const details = await api.getDetails(link);
  return { ...details, availableAtMs: Date.now() + (details.availableInSeconds ?? 0) * 1000 };
}

/** Loads the sponsors of an item. @throws ApiFailure */
export const loadSponsors = async (api: Api, key: string): Promise<readonly SkipSegment[]> =>
  (await api.getSegments(key)).filter(({ category }) => category === 'sponsor');

/** Shared by the player and the result: each item is asked for once. */
const recent = createTtlCache<Promise<LoadedDetails>>({ maxEntries: 20, ttlMs: 600_000 });

function detailsOf(api: Api, link: string): Promise<LoadedDetails> {
  const known = recent.get(link);
  if (known) return known;
  const loading = loadDetails(api, link);
  recent.put(link, loading);
  // A failure is not kept: the next request may succeed.
  loading.catch(() => recent.delete(link));
  return loading;
}

/** The details of a link, loaded once they are wanted. */
export function useDetails(link: string | null, isWanted: boolean) {
  const { api } = usePage();
  const { loaded, error, retry } = useAttempts(
    () => (link && isWanted ? detailsOf(api, link) : undefined),
    [api, link, isWanted],
  );
  return { details: loaded, failure: error === undefined ? undefined : toFailure(error), retry };
}

/** The sponsors of an item; none while they are not known, or cannot be read, since nothing depends on them. */
export function useSponsors({ segmentsKey }: Partial<LoadedDetails> = {}): readonly SkipSegment[] {
  const { api } = usePage();
  return useLoaded(() => (segmentsKey ? loadSponsors(api, segmentsKey) : undefined), [api, segmentsKey]) ?? [];
}

/** The size of a choice, marked where it is an estimate or a limit; undefined while it is not known. */
export function sizeName(
  { sizeBytes, isSizeEstimate, isSizeLimit }: Choice,
  { t }: Texts,
  format: Pick<Format, 'bytes'>,
): string | undefined {
  const size = sizeBytes && format.bytes(sizeBytes);
  return size && isSizeEstimate ? t(isSizeLimit ? 'choices.upTo' : 'choices.about', { size }) : size || undefined;
}

/**
 * The language of a subtitle file in the visitor's language, marked when it was made by speech recognition.
 * @param all of the item: the site's name tells apart those of one language
 */
export function subtitleName(
  { language, name, isAutomatic }: SubtitleInformation,
  all: readonly SubtitleInformation[],
  { t, locale }: Texts,
): string {
  const known = languageName(language, locale);
  const isOne = all.filter((other) => other.language === language && other.isAutomatic === isAutomatic).length < 2;
  const text = known === language ? (name ?? language) : isOne || !name ? known : `${known} (${name})`;
  return isAutomatic ? t('details.automatic', { language: text }) : text;
}

/** `English`, `German (dubbed)`, `all languages`; `original sound` where nothing names its language. */
export function versionName(version: AudioVersion | undefined, { t, locale }: Texts): string {
  const { language, isDubbed, isDescriptive, isDrc } = version ?? {};
  if (language === ALL_LANGUAGES) return t('version.all');
  const kind = isDescriptive ? 'descriptive' : isDrc ? 'drc' : isDubbed ? 'dubbed' : undefined;
  const name = language ? languageName(language, locale) : t(kind ? 'choices.audio' : 'version.original');
  return kind ? t(`version.${kind}`, { language: name }) : name;
}
