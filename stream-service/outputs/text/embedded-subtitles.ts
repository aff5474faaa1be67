import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { createCache, createSingleFlight } from '../../../core/concurrency/index.ts';
import { UnsupportedRendition } from '../../../core/errors/index.ts';
import { digestOf } from '../../../core/http/index.ts';
import { type Cue, MAX_SUBTITLE_BYTES } from '../../../core/media/subtitles/index.ts';
import type { TimedText } from '../../../core/media/timed-text/index.ts';
import { parse, READ_CUES } from '../../../core/parsing/index.ts';
import { MAX_ATTACHMENT_BYTES, type Resource, type State } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import type { OpenSource } from '../../source/index.ts';
import { toReadError } from '../representation.ts';
import { readSubtitleFile } from './open.ts';
import type { SelectedSubtitle } from './plan.ts';

/** Subtitles as they are embedded. */
export interface EmbeddedText extends TimedText {
  /** Differs where the language or the cues do. */
  readonly id: string;
}

/** Subtitles of resources. The first request of all hosts reads and stores them, so that every range of a file fits. */
export interface EmbeddedSubtitles {
  /** If they are stored; undefined: not yet. @throws StateUnavailable */
  stored(resource: Resource, selected: SelectedSubtitle): Promise<EmbeddedText | undefined>;
  /** @throws StateUnavailable, UnsupportedRendition when they are too large, and what reading the file throws */
  find(
    resource: Resource,
    selected: SelectedSubtitle,
    session: Pick<StreamSession, 'client' | 'signal'>,
  ): Promise<EmbeddedText>;
}

export interface EmbeddedSubtitlesDependencies {
  readonly state: Pick<State, 'getAttachment' | 'putAttachment'>;
  readonly openSource: OpenSource;
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

export function createEmbeddedSubtitles({ state, openSource }: EmbeddedSubtitlesDependencies): EmbeddedSubtitles {
  const cache = createCache<string, CachedText>({
    maxEntries: MAX_CACHED,
    maxWeight: CACHE_BYTES,
    weightOf: ({ memoryBytes }) => memoryBytes,
    idle: IDLE,
  });
  const flights = createSingleFlight<EmbeddedText>();
  const keyOf = ({ id }: Resource, { subtitle }: SelectedSubtitle) => `${id} ${subtitle.id}`;

  const unpack = async (resource: Resource, selected: SelectedSubtitle, bytes: Buffer): Promise<EmbeddedText> => {
    const json = await decompress(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
    const { language } = selected.subtitle;
    const id = `${language} ${digestOf(json)}`;
    const text = { id, language, cues: JSON.parse(json.toString()) as readonly Cue[] };
    cache.set(keyOf(resource, selected), { text, memoryBytes: json.length * MEMORY_FACTOR });
    return text;
  };

  const stored: EmbeddedSubtitles['stored'] = async (resource, selected) => {
    const cached = cache.get(keyOf(resource, selected));
    if (cached) return cached.text;
    const bytes = await state.getAttachment(resource.id, `subtitle-${selected.subtitle.id}`);
    return bytes && unpack(resource, selected, bytes);
  };

  const read = async (resource: Resource, { track }: SelectedSubtitle, client: string, signal: AbortSignal) => {
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
    stored,
    find: (resource, selected, { client, signal }) =>
      flights(
        keyOf(resource, selected),
        async (shared) => {
          const known = await stored(resource, selected);
          if (known) return known;
          const bytes = await compress(await read(resource, selected, client, shared), COMPRESSION);
          if (bytes.length > MAX_ATTACHMENT_BYTES)
            throw new UnsupportedRendition('The subtitles are too large to embed.');
          const name = `subtitle-${selected.subtitle.id}` as const;
          return unpack(resource, selected, await state.putAttachment(resource.id, name, bytes));
        },
        signal,
      ),
  };
}
