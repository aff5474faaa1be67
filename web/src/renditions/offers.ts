/** What an instance converts to besides what it lists: clients of the contract take the last rendition for MP3. */
export interface ConversionOffers {
  /** kbit/s of MP3, highest first; empty: the listed one alone. */
  readonly bitratesKbps: readonly number[];
  /** Whether `tags=true` puts title, artist and cover into a file. */
  readonly hasTags: boolean;
  /** Whether `subtitles=` puts those of a language into a video. */
  readonly hasSubtitles: boolean;
  /** Whether `audio=` replaces the audio of a video. */
  readonly hasLanguages?: boolean;
  /** Whether `loudness=` adds values by which players level the volume to the tags. */
  readonly hasLoudness?: boolean;
  /** Whether `chapter=` sends the part of a chapter. */
  readonly hasChapters?: boolean;
  /** Values of `format`. */
  readonly formats: readonly string[];
  /** Whether parts of a list can be selected, and lists are there for download managers. */
  readonly hasEntries?: boolean;
}

/** What is offered while the instance's offers are unknown, or its version differs. */
export const NO_OFFERS: ConversionOffers = { bitratesKbps: [], hasTags: false, hasSubtitles: false, formats: [] };

/** More are not shown. */
const MAX_BITRATES = 8;

interface Parameter {
  readonly name?: unknown;
  readonly schema?: { readonly enum?: readonly unknown[] };
  readonly examples?: object;
}

interface Description {
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>>;
}

/** Reads which parameters the streams of an instance have from its description. @param description OpenAPI, not validated */
export function readOffers(description: unknown): ConversionOffers {
  try {
    const { paths } = description as Description;
    const find = (name: string) =>
      paths['/api/Stream/Media/{key}']?.get.parameters.find((parameter) => parameter.name === name);
    const formats = Object.keys(find('format')?.examples ?? {});
    const bitrates = (find('bitrate')?.schema?.enum ?? []).map(Number).filter((bitrate) => bitrate > 0);
    return {
      bitratesKbps: bitrates.sort((a, b) => b - a).slice(0, MAX_BITRATES),
      hasTags: find('tags') !== undefined,
      hasSubtitles: find('subtitles') !== undefined,
      formats,
      ...(find('audio') && { hasLanguages: true }),
      ...(find('loudness') && { hasLoudness: true }),
      ...(find('chapter') && { hasChapters: true }),
      ...(paths['/api/Feed']?.get.parameters.some(({ name }) => name === 'entries') && { hasEntries: true }),
    };
  } catch (error) {
    // It has another shape.
    if (error instanceof TypeError) return NO_OFFERS;
    throw error;
  }
}
