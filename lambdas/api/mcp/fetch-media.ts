import { type Schema, streamPath } from '../../../core/api/index.ts';
import { findConversionName } from '../../../core/conversions/index.ts';
import { normalizeLink } from '../../../core/resolve/index.ts';
import { signKeyFor } from '../../middleware/index.ts';
import { toResourceInformation } from '../get-resource.ts';
import type { ResolvedRequest } from '../resolve-request.ts';
import { LINK_INPUT, MEDIA_OUTPUT, type Tool, type ToolCall } from './tool.ts';

/** A rendition with the address of its file. */
interface MediaFile
  extends Pick<Schema<'MediaRendition'>, 'label' | 'description' | 'fileExtension' | 'fileSizeBytes'> {
  /** Absolute; signed where the instance is private. */
  readonly downloadUrl: string;
}

interface MediaItem {
  readonly title: string | null;
  readonly author: string | null;
  /** What to resolve for the item alone. */
  readonly sourceUrl: string;
  readonly coverUrl: string | null;
  /** Best first, as `audio`. Entries of a list that have an address of their own have neither. */
  readonly video: readonly MediaFile[];
  readonly audio: readonly MediaFile[];
}

export interface Media {
  readonly type: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  readonly items: readonly MediaItem[];
}

export const fetchMedia: Tool = {
  name: 'fetch_media',
  title: 'Fetch media',
  description:
    'Finds the video and audio files behind a link, best first, each with a downloadUrl that anyone can open or download. Of a list (playlist, channel, album, podcast) it returns the items without files: call it again with the sourceUrl of the item that is wanted.',
  input: { type: 'object', properties: { url: LINK_INPUT }, required: ['url'] },
  output: MEDIA_OUTPUT,
  run: async ({ url = '' }, call) => describeMedia(await call.resolve(url), call),
};

/** What a link has been resolved to, with the addresses of the files. @throws Problem when the base URL is not known */
export function describeMedia({ resolved, sent }: ResolvedRequest, call: ToolCall): Media {
  const { type, title, author, coverUrl, mediaItems } = toResourceInformation(resolved, sent, signKeyFor(call.event));
  const baseUrl = call.baseUrl();
  const link = normalizeLink(sent.trim());
  const files = (renditions: readonly Schema<'MediaRendition'>[] = []) =>
    renditions.map((rendition) => toFile(rendition, baseUrl));
  const items = mediaItems.map((item): MediaItem => {
    const { requestedUrl, video, audio } = item;
    // Items that only the page of the list has are resolved with it: asking for their address would lead to the list again.
    const isComplete = resolved.type === 'Media' || requestedUrl === link;
    return {
      title: item.title,
      author: item.author,
      sourceUrl: requestedUrl ?? link,
      coverUrl: item.coverUrl,
      video: isComplete ? files(video?.renditions) : [],
      audio: isComplete ? files(audio?.renditions) : [],
    };
  });
  return { type, title, author, coverUrl, items };
}

function toFile(rendition: Schema<'MediaRendition'>, baseUrl: string): MediaFile {
  const { key, label, description, fileExtension, fileSizeBytes, convertTo } = rendition;
  // Media serves both kinds of renditions, by range where that is possible.
  const path = streamPath('Media', key, { format: findConversionName(convertTo ?? undefined) });
  return {
    label,
    description,
    fileExtension,
    fileSizeBytes,
    downloadUrl: `${baseUrl}${path}`,
  };
}
