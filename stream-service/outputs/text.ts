import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { createCache, createSingleFlight } from '@reelay/concurrency';
import {
  type Cue,
  InvalidSubtitles,
  MAX_SUBTITLE_BYTES,
  SUBTITLE_TYPES,
  type SubtitleFormat,
} from '@reelay/seekable-media/text/subtitles';
import type { TimedText } from '@reelay/seekable-media/text/text-track';
import { digestOf } from '@reelay/seekable-media/values';
import { readSmallSource, type Source } from '@reelay/source';
import { type Name, nameOf } from '@reelay/source/names';
import { NotFound, ParsingLimitExceeded, UnsupportedRendition, UpstreamError } from '../../core/errors/index.ts';
import { CONVERT_SUBTITLES, parse, READ_CUES } from '../../core/parsing/index.ts';
import { languageName, languageTag } from '../../core/resolve/index.ts';
import {
  chooseSubtitle,
  type KeyedSubtitle,
  keyOf,
  MAX_ATTACHMENT_BYTES,
  type Resource,
  type State,
  type Subtitle,
  type Track,
} from '../../core/state/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import { openTrack, versionOf } from '../source/index.ts';
import { inMemory, type Opening, type PlannedOutput, type Representation, toReadError } from './representation.ts';

/** A subtitle file of a resource. */
export interface SelectedSubtitle {
  readonly subtitle: Subtitle;
  readonly track: Track;
}

/** The subtitles of a resource in a language. @throws InvalidParameter when there are none, listing the available languages */
export function selectSubtitle(resource: Resource, language: string): SelectedSubtitle {
  const subtitle = chooseSubtitle(resource, language);
  const track = resource.tracks.find(({ formatId }) => formatId === subtitle.formatId);
  if (!track) throw new NotFound('Stored subtitle lacks its track');
  return { subtitle, track };
}

/** Subtitles as a menu of players shows them. */
export interface NamedText {
  /** Id of the subtitle file. */
  readonly id: string;
  readonly name: string;
  /** BCP 47; absent if unknown. */
  readonly language?: string;
  /** No one before it has the language. */
  readonly isFirst: boolean;
}

/** FFmpeg reads those of every language before it begins. */
const MAX_TEXTS = 32;

/** The subtitles of an item: in the language that is spoken, then by people, then automatic ones in languages without. */
export function listTexts(resource: Resource): readonly NamedText[] {
  const { subtitles = [] } = resource;
  if (subtitles.length === 0) return [];
  const spoken = chooseSubtitle(resource);
  const rank = ({ id, isAutomatic }: Subtitle) => (isAutomatic ? 2 : id === spoken.id ? 0 : 1);
  const texts: NamedText[] = [];
  for (const subtitle of subtitles.toSorted((a, b) => rank(a) - rank(b))) {
    const { id, isAutomatic } = subtitle;
    // YouTube names its own captions `en-orig`, and several of a language `en-eEY6OEpapPo`.
    const plain = subtitle.language.replace(/-orig$/, '');
    const language = languageTag(plain) ?? languageTag(plain.split(/[-_]/, 1)[0]);
    const isFirst = texts.every((other) => other.language !== language);
    if (isAutomatic && !isFirst) continue;
    const name = subtitle.name ?? (language ? languageName(language) : plain);
    texts.push({
      id,
      name: isAutomatic ? `${name} (automatic)` : name,
      isFirst,
      ...(language && { language }),
    });
  }
  return texts.slice(0, MAX_TEXTS);
}

/** A subtitle file, converted. */
export interface TextPlan extends PlannedOutput {
  readonly kind: 'text';
  /** Id of the subtitle file. */
  readonly id: string;
  readonly found: KeyedSubtitle;
  readonly format: SubtitleFormat;
}

export function planSubtitle(found: KeyedSubtitle, format: SubtitleFormat = 'vtt'): TextPlan {
  const head = { mimeType: SUBTITLE_TYPES[format], fileExtension: `.${found.subtitle.language}.${format}` };
  return {
    kind: 'text',
    id: found.subtitle.id,
    found,
    format,
    head: { ...head, size: undefined, acceptRanges: undefined },
    // Its length and tag are those of the converted file: HEAD reads the source too, which is small.
    answersHead: false,
  };
}

/** Plans the WebVTT file of subtitles that `listTexts` lists. Undefined: no subtitles have this id. */
export function planText(resource: Resource, textId: string | undefined): TextPlan | undefined {
  const subtitle = resource.subtitles?.find(({ id }) => id === textId);
  const track = resource.tracks.find(({ formatId }) => formatId === subtitle?.formatId);
  return subtitle && track && planSubtitle({ key: keyOf(resource.id, subtitle.id), resource, subtitle, track });
}

/** @throws UpstreamError when it is not a subtitle file */
export const openText = async (plan: TextPlan, opening: Opening): Promise<Representation> =>
  inMemory(plan.head, Buffer.from(await readText(plan, opening)));

/** @throws UpstreamError when it is not a subtitle file */
export async function readText({ found, format }: TextPlan, { session, openSource }: Opening): Promise<string> {
  const source = await openTrack(openSource, found, found.track, session, { maxBytes: MAX_SUBTITLE_BYTES });
  return readSubtitleFile(source, (bytes) => parse(CONVERT_SUBTITLES, { bytes, format }, session));
}

/**
 * Reads a subtitle file whole: it is small, and only a whole file can be validated.
 * @param parse the bytes, by a task of `core/parsing`
 * @throws UpstreamError when it is too large or not a subtitle file
 */
export async function readSubtitleFile<Output>(
  source: Source,
  parse: (bytes: Buffer) => Promise<Output>,
): Promise<Output> {
  const bytes = await readSmallSource(source, { maxBytes: MAX_SUBTITLE_BYTES, name: 'The subtitle file' });
  return parse(bytes).catch((error) => {
    const isInvalid = error instanceof InvalidSubtitles || error instanceof ParsingLimitExceeded;
    throw isInvalid ? new UpstreamError('The source is not a subtitle file', { cause: error }) : error;
  });
}

/** Subtitles as they are embedded. */
export interface EmbeddedText extends TimedText {
  /** Differs where the language or the cues do. */
  readonly id: string;
}

/** Subtitles of resources. The first request of all hosts reads and stores them, so that every range of a file fits. */
export interface EmbeddedSubtitles {
  /** @throws StateUnavailable, UnsupportedRendition when they are too large */
  find(
    resource: Resource,
    selected: SelectedSubtitle,
    opening: Pick<Opening, 'session' | 'openSource' | 'isForHead'>,
  ): Promise<EmbeddedText>;
}

export interface EmbeddedSubtitlesDependencies {
  readonly state: Pick<State, 'getAttachment' | 'putAttachment'>;
}

interface CachedText {
  readonly text: EmbeddedText;
  readonly memoryBytes: number;
}

/** Limit of stored cues, unpacked; a file has 5 MB at most. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
const MAX_CACHED = 16;
/** Memory of all texts. A film has about 200 KB. */
const CACHE_BYTES = 16 * 1024 * 1024;
const IDLE = { afterMs: 30_000, maxWeight: 2 * 1024 * 1024 };
/** Short cues take twice as much memory as their JSON. */
const MEMORY_FACTOR = 2;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** Quality 11 would occupy a thread for ten seconds, which all files and compressions of the process share. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

export function createEmbeddedSubtitles({ state }: EmbeddedSubtitlesDependencies): EmbeddedSubtitles {
  const cache = createCache<Name, CachedText>({
    maxEntries: MAX_CACHED,
    maxWeight: CACHE_BYTES,
    weightOf: ({ memoryBytes }) => memoryBytes,
    idle: IDLE,
  });
  const flights = createSingleFlight<EmbeddedText, Name>();
  /** The text of the first version that any process has read. */
  const keyOf = (resource: Resource, { track, subtitle }: SelectedSubtitle) =>
    nameOf([versionOf(resource, track)], 'text', subtitle.id);

  const unpack = async (resource: Resource, selected: SelectedSubtitle, bytes: Buffer): Promise<EmbeddedText> => {
    const json = await decompress(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
    const { language } = selected.subtitle;
    const id = `${language} ${digestOf(json)}`;
    const text = { id, language, cues: JSON.parse(json.toString()) as readonly Cue[] };
    cache.set(keyOf(resource, selected), { text, memoryBytes: json.length * MEMORY_FACTOR });
    return text;
  };

  const readStored = async (resource: Resource, selected: SelectedSubtitle): Promise<EmbeddedText | undefined> => {
    const cached = cache.get(keyOf(resource, selected));
    if (cached) return cached.text;
    const bytes = await state.getAttachment(resource.id, `subtitle-${selected.subtitle.id}`);
    return bytes && unpack(resource, selected, bytes);
  };

  const read = async (
    resource: Resource,
    { track }: SelectedSubtitle,
    openSource: Opening['openSource'],
    { client, signal }: Pick<StreamSession, 'client' | 'signal'>,
  ) => {
    const source = await openSource(resource, track, { signal, client, maxBytes: MAX_SUBTITLE_BYTES });
    try {
      return await readSubtitleFile(source, (bytes) => parse(READ_CUES, bytes, { client, signal }));
    } catch (error) {
      throw toReadError(error);
    } finally {
      source.close();
    }
  };

  return {
    find: (resource, selected, { session: { client, signal }, openSource, isForHead }) =>
      flights(
        // HEAD does not resolve again, so it may fail where GET does not.
        nameOf([keyOf(resource, selected)], 'reading', isForHead),
        async (shared) => {
          const known = await readStored(resource, selected);
          if (known) return known;
          const bytes = await compress(
            await read(resource, selected, openSource, { client, signal: shared }),
            COMPRESSION,
          );
          if (bytes.length > MAX_ATTACHMENT_BYTES)
            throw new UnsupportedRendition('The subtitles are too large to embed.');
          const name = `subtitle-${selected.subtitle.id}` as const;
          return unpack(resource, selected, await state.putAttachment(resource.id, name, bytes));
        },
        signal,
      ),
  };
}
