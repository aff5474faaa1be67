/** Languages that say that there is none, several, or an unknown one. */
const NO_LANGUAGE = /^(?:und|mul|mis|zxx|root)\b/i;
/** What sites append to the language of an audio description. */
const DESCRIPTION_SUFFIX = /[-_](?:desc|audio[-_]description)$/i;
const MAX_TAG_CHARS = 35;

const names = new Intl.DisplayNames('en', { type: 'language' });

/**
 * The language of a track as BCP 47, so that `deu` and `de`, `en-desc` and `en` are the same.
 * @param text as the source names it; undefined for what is no language
 */
export function languageTag(text: string | undefined): string | undefined {
  const plain = text?.replace(DESCRIPTION_SUFFIX, '').replaceAll('_', '-');
  if (!plain || plain.length > MAX_TAG_CHARS || NO_LANGUAGE.test(plain)) return undefined;
  try {
    return Intl.getCanonicalLocales(plain)[0];
  } catch {
    // Sources name languages freely.
    return undefined;
  }
}

/** In English, as labels are: `German`; the tag itself for one without a name. @param tag BCP 47 */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    // Such as a tag with an extension.
    return tag;
  }
}
