import { encodeExtended } from 'content-disposition';

/** Bytes of a name in UTF-8, extension included. File systems allow 255, of which programs need some for endings of their own. */
const MAX_BYTES = 200;
/** Bytes of the two names in a path. Windows refuses paths of more than 260 characters, with those of the folders above. */
const MAX_FOLDER_BYTES = 80;
const MAX_ENTRY_BYTES = 120;
/**
 * Control and direction characters, lone surrogates, and characters that file systems reserve. The two joiners stay:
 * emoji and some scripts need them.
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"/\\|?*%]+|(?![\u200c\u200d])\p{Cf}/gu;
/** Where a text was cut: separators and opening brackets, behind which something is missing. */
const DANGLING = /[\s\p{Pd}\p{Ps}\p{Pi},;&+]+$/u;
/** Device names, which Windows reserves with any extension, several ones too, and with superscript digits. */
const RESERVED =
  /^(con|prn|aux|nul|conin\$|conout\$|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3])(?=[ ]*(?:\.|$))/i;

export interface Naming {
  readonly title: string | null;
  readonly author: string | null;
  /** What distinguishes it from others of the title: `German`. */
  readonly version?: string;
  /** The part that it is, in seconds; an infinite end is that of the media. */
  readonly clip?: { readonly startSeconds: number; readonly endSeconds: number };
  /** When it was recorded, epoch milliseconds. */
  readonly recordedAtMs?: number | undefined;
}

/**
 * `Artist - Title.ext`, safe for file systems; a title that names the artist is enough. A version, and the times of a clip,
 * follow the title: `Title (German) (1-05–1-20.5).mp4`, of a part of a live stream its time: `Title (2026-11-23 20-00-00Z).mp4`.
 * @param fileExtension with a leading dot
 * @param maxBytes in UTF-8; a longer name is cut between words
 */
export function fileName(
  { title, author, version, clip, recordedAtMs }: Naming,
  fileExtension: string,
  maxBytes = MAX_BYTES,
): string {
  const times = clip && `${formatClipTime(clip.startSeconds)}–${formatClipTime(clip.endSeconds)}`;
  const recorded = recordedAtMs === undefined ? undefined : formatTimeOfDay(recordedAtMs);
  const suffix = [version?.replace(FORBIDDEN, ' ').replace(/\s+/g, ' '), recorded, times]
    .map((part) => (part ? ` (${part})` : ''))
    .join('');
  const [artist = '', titled = ''] = [author, title].map((part) => part?.normalize('NFC').trim() ?? '');
  const name = withoutExtension(titled, fileExtension);
  const text = (isNamed(artist, name) ? [name] : [artist, name]).filter(Boolean).join(' - ');
  const clean = withoutEdges(text.replace(FORBIDDEN, ' ').replace(/\s+/g, ' ')).replace(RESERVED, '$1_');
  const cut = withoutEdges(cutText(clean, maxBytes - Buffer.byteLength(suffix + fileExtension)));
  return (cut === '' ? 'media' : cut) + suffix + fileExtension;
}

/** What names the file of an output. A part that has a title of its own needs no times. */
export const namingOf = (
  { title, author }: Pick<Naming, 'title' | 'author'>,
  { partTitle, version }: Pick<Naming, 'version'> & { readonly partTitle?: string },
  { clip, recordedAtMs }: Pick<Naming, 'clip' | 'recordedAtMs'>,
): Naming =>
  partTitle === undefined ? { title, author, version, clip, recordedAtMs } : { title: partTitle, author, version };

/** A name as it was asked for. What is in brackets at its end, such as a quality, tells files apart: it stays where a name is cut. */
export function namingAs(name: string): Naming {
  const [, title = name, version] = /^(.+) \(([^()]{1,50})\)$/su.exec(name) ?? [];
  return { title, author: null, version };
}

/** A title may be the name of the file itself: those of Google Drive are. */
function withoutExtension(title: string, extension: string): string {
  const end = title.length - extension.length;
  const isThere = end > 0 && end < title.length && title.slice(end).toLowerCase() === extension.toLowerCase();
  return isThere ? title.slice(0, end) : title;
}

const withoutEdges = (text: string): string => text.replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');

/** Cuts a text between words; between characters, as readers see them, where a word takes more than half of it. */
function cutText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const words = wholeSegments(text, 'word', maxBytes);
  const isEnough = Buffer.byteLength(words) * 2 >= maxBytes;
  return (isEnough ? words : wholeSegments(text, 'grapheme', maxBytes)).replace(DANGLING, '');
}

/** The segments at the beginning of a longer text that fit. */
function wholeSegments(text: string, granularity: 'word' | 'grapheme', maxBytes: number): string {
  // A UTF-16 code unit takes a byte or more: the last segment of this part never fits.
  const segments = new Intl.Segmenter('en', { granularity }).segment(text.slice(0, maxBytes + 1));
  let end = 0;
  let bytes = 0;
  for (const { segment } of segments) {
    bytes += Buffer.byteLength(segment);
    if (bytes > maxBytes) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/** `2026-11-23 20-00-00Z`. */
const formatTimeOfDay = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '-')}Z`;

/** `1-05.5`, `1-02-03`: file systems reserve the colon. Empty for the end of media of unknown duration. */
function formatClipTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return '';
  const milliseconds = Math.round(seconds * 1000);
  const [hours, minutes] = [Math.floor(milliseconds / 3_600_000), Math.floor(milliseconds / 60_000) % 60];
  const rest = String((milliseconds % 60_000) / 1000);
  const padded = rest.includes('.')
    ? rest.padStart(rest.indexOf('.') === 1 ? rest.length + 1 : 0, '0')
    : rest.padStart(2, '0');
  return [...(hours > 0 ? [hours, String(minutes).padStart(2, '0')] : [minutes]), padded].join('-');
}

/** Whether a text contains a name as words of its own, in any case. */
function isNamed(name: string, text: string): boolean {
  const [wanted, words] = [name, text].map((part) => part.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
  return (wanted ?? []).length > 0 && ` ${words?.join(' ')} `.includes(` ${wanted?.join(' ')} `);
}

/** Text of a source without line breaks: it cannot imitate lines of the text that it is part of. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** Names the files of a list. */
export interface ListFileNames {
  readonly folder: string;
  /** `List/007 - Artist - Title.mp4`. @param number one-based place in the list */
  pathOf(number: number, naming: Naming, fileExtension: string): string;
}

/**
 * All files are in one folder, so that extracting or downloading adds one name to the present folder. Its name and theirs have
 * no separators, and begin with no dot: no file leaves it. Numbers make the names unique.
 * @param lastNumber of the list
 */
export function listFileNames(list: Naming, lastNumber: number): ListFileNames {
  const folder = fileName(list, '', MAX_FOLDER_BYTES);
  const digits = Math.max(2, String(lastNumber).length);
  return {
    folder,
    pathOf: (number, naming, fileExtension) =>
      `${folder}/${String(number).padStart(digits, '0')} - ${fileName(naming, fileExtension, MAX_ENTRY_BYTES)}`,
  };
}

/** Content-Disposition of a download: an ASCII name for old clients, and the full name (RFC 6266 §5). */
export function contentDisposition(naming: Naming, fileExtension: string): string {
  const name = fileName(naming, fileExtension);
  // Always quoted: some clients parse nothing else.
  return `attachment; filename="${toAscii(name)}"; filename*=${encodeExtended(name)}`;
}

/** Removes accents from letters and replaces other characters by underscores. */
const toAscii = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_')
    .replace(/["\\/%]/g, '_');
