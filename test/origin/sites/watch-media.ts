import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SECONDS } from '../recipes.ts';
import { fill } from '../recorded.ts';
import data from './watch.json' with { type: 'json' };
import { STRICT_CHUNK } from './watch-rules.ts';

/** Issues a URL for a file under a rule. */
export type Address = (rule: string, file: string, formatId: string) => string;

interface MediaRequest {
  readonly kind: string;
  readonly id: string;
  readonly origin: string;
  readonly mediaDir: string;
  readonly address: Address;
  /** Epoch seconds from which the files are served. */
  readonly availableAt: number | undefined;
}

type Info = Record<string, unknown>;

/** Files as format fields of yt-dlp. */
const FORMATS: Readonly<Record<string, Info & { file: string; vcodec: string }>> = data.formats;

/** What makes `/site/{kind}/{id}` special. `{{origin}}` in it is that of the request. */
interface Kind {
  readonly formats: readonly string[];
  /** Files with rules have headers per format; `strict` ones a cookie and bounded ranges, too. @default open */
  readonly rule?: string;
  readonly seconds?: number;
  /** The site reports neither size nor bitrate. */
  readonly unsized?: boolean;
  /** Changed fields of the item. */
  readonly info?: Info;
  /** Changed fields of each format, and of some. */
  readonly format?: Info;
  readonly changes?: Readonly<Record<string, Info>>;
  /** Formats of other deliveries, supported or not. */
  readonly further?: readonly Info[];
}

const KINDS: Readonly<Record<string, Kind>> = data.kinds;

/** The info of an item; undefined for an unknown kind. */
export async function describeMedia(request: MediaRequest): Promise<Info | undefined> {
  const { kind: name, id, origin, address } = request;
  const kind = KINDS[name];
  if (!kind) return undefined;
  const { seconds = SECONDS.ladder, info, further = [] } = kind;
  const formats = await Promise.all(kind.formats.map((formatId) => describeFormat(request, kind, formatId)));
  const known = [...formats.filter((format) => format !== undefined), ...further];
  const locked = address('open', 'ladder/both-720.mp4', 'locked');
  const text = JSON.stringify({ id, duration: seconds, ...data.item, ...info, formats: known });
  const item = JSON.parse(fill(text, { id, origin, locked }));
  if (name !== 'embedded') return item;
  return {
    _type: 'playlist',
    id,
    title: 'Two on one page',
    entries: ['first', 'second'].map((part) => ({ ...item, id: `${id}-${part}`, title: `The ${part}` })),
  };
}

/** A format; undefined when FFmpeg lacked the encoder for its file. */
async function describeFormat(
  { address, mediaDir, origin, availableAt }: MediaRequest,
  { rule = 'open', seconds = SECONDS.ladder, unsized, format, changes }: Kind,
  formatId: string,
): Promise<Info | undefined> {
  const { file, ...traits } = FORMATS[formatId] ?? { file: '', vcodec: 'none' };
  const found = await stat(join(mediaDir, file)).catch(() => undefined);
  if (!found) return undefined;
  const bitrate = Math.round((found.size * 8) / seconds / 1000);
  return {
    format_id: formatId,
    format_note: 'test',
    url: address(rule, file, formatId),
    ext: file.split('.').at(-1),
    protocol: 'http',
    available_at: availableAt,
    ...traits,
    ...(unsized ? {} : { filesize: found.size, [traits.vcodec === 'none' ? 'abr' : 'tbr']: bitrate }),
    ...(rule === 'open' || rule === 'first-minute'
      ? {}
      : { http_headers: { Referer: `${origin}/`, 'X-Format': formatId } }),
    ...(rule === 'strict' ? { downloader_options: { http_chunk_size: STRICT_CHUNK } } : {}),
    ...format,
    ...changes?.[formatId],
  };
}
