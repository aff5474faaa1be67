import { createHash } from 'node:crypto';
import { type ListPlace, recordingText } from '../../core/conversions/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import { mp4Tags } from '../../core/media/mp4-tags/index.ts';
import { TextTooLarge, timedText } from '../../core/media/timed-text/index.ts';
import type { LayoutExtras } from '../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import type { Covers } from './picture/index.ts';
import type { RepresentationHead, RepresentationOpener } from './representation.ts';
import { type EmbeddedSubtitles, type EmbeddedText, selectSubtitle } from './text/index.ts';

/** What a layout has besides its tracks, with a name that distinguishes it from others; empty: nothing. */
export interface NamedExtras extends LayoutExtras {
  readonly id: string;
}

export interface WantedExtras {
  readonly hasTags?: boolean;
  /** For the tags. */
  readonly listPlace?: ListPlace;
  /** Language of the subtitles to embed. */
  readonly subtitles?: string;
}

export interface ExtrasDependencies {
  readonly covers: Covers;
  readonly embeddedSubtitles: EmbeddedSubtitles;
}

const NO_EXTRAS: NamedExtras = { id: '' };

/**
 * An MP4 layout with tags and subtitles. The first request of all hosts chooses cover and subtitles; until then HEAD knows
 * the length of tags alone, and no ETag.
 * @param create the representation with these extras
 * @throws InvalidParameter when there are no subtitles in the language
 */
export function withExtras(
  { resource }: KeyedRendition,
  { hasTags, listPlace, subtitles }: WantedExtras,
  { covers, embeddedSubtitles }: ExtrasDependencies,
  create: (extras: NamedExtras) => RepresentationOpener,
): RepresentationOpener {
  if (!hasTags && subtitles === undefined) return create(NO_EXTRAS);
  const selected = subtitles === undefined ? undefined : selectSubtitle(resource, subtitles);
  const createWith = (cover?: Buffer, text?: EmbeddedText) => {
    const tags = hasTags ? mp4Tags(recordingText(resource, listPlace), cover) : undefined;
    return create({ tags, text, id: tagsId(tags) + (text ? ` text=${text.id}` : '') });
  };
  const unknown = createWith();
  const undecided = <Head extends RepresentationHead>(head: Head): Head => ({
    ...head,
    etag: undefined,
    ...(selected && { size: undefined, acceptRanges: undefined }),
  });

  const inspect = async (session: StreamSession): Promise<RepresentationHead> => {
    const [cover, text] = await Promise.all([
      hasTags ? covers.stored(resource) : undefined,
      selected && embeddedSubtitles.stored(resource, selected),
    ]);
    const isKnown = (!hasTags || cover) && (!selected || text);
    const opener = isKnown ? createWith(cover, text) : unknown;
    const head = await (opener.inspect?.(session) ?? opener.describe());
    return isKnown ? head : undecided(head);
  };

  return {
    describe: () => undecided(unknown.describe()),
    inspect: unknown.inspect && inspect,
    async open(session, range) {
      const [cover, text] = await Promise.all([
        hasTags ? covers.find(resource, session) : undefined,
        selected && embeddedSubtitles.find(resource, selected, session),
      ]);
      return createWith(cover, text).open(session, range);
    },
  };
}

/** Tags are named by their digest. */
const tagsId = (tags: Buffer | undefined): string =>
  tags ? ` tags=${createHash('sha256').update(tags).digest('base64url')}` : '';

export interface TextTarget {
  /** Whether the answer is MP4. */
  readonly isMp4: boolean;
  /** To audio. @default false */
  readonly isConverted?: boolean;
}

/** @throws InvalidParameter, UnsupportedRendition where no subtitles can be embedded */
export function requireTextTarget({ resource, tracks }: KeyedRendition, { isMp4, isConverted }: TextTarget): void {
  if (isConverted) throw new InvalidParameter('subtitles cannot be combined with format.');
  if (resource.isLive) throw new UnsupportedRendition('Subtitles cannot be embedded in a live stream.');
  if (!tracks.some(({ video }) => video)) throw new UnsupportedRendition('Subtitles can be embedded in video only.');
  if (!isMp4) throw new UnsupportedRendition('Subtitles can be embedded in MP4 only.');
}

/** @throws UnsupportedRendition where an error says that subtitles are too large */
export function refuseLargeText(reason: unknown): void {
  if (reason instanceof TextTooLarge)
    throw new UnsupportedRendition('The subtitles are too large to embed.', { cause: reason });
}

/** Checks the text before anything is muxed. @throws UnsupportedRendition when it is too large */
export function requireFittingText({ text }: LayoutExtras, endSeconds = Number.POSITIVE_INFINITY): void {
  try {
    if (text) timedText(text, endSeconds);
  } catch (error) {
    refuseLargeText(error);
    throw error;
  }
}
