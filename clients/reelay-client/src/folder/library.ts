import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { MediaDetails } from '../api-types.ts';
import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { cutText, type Download, download, requireWritable, safeFileName } from '../files/index.ts';
import type { RetryOptions } from '../retry.ts';
import { replaceFile } from './folder-state.ts';

/** An entry of a list, with what its files for media centres contain. */
interface LibraryItem extends Naming {
  /** Link of the entry. */
  readonly url: string;
  /** What its `.strm` file contains. */
  readonly link: string;
  readonly details: MediaDetails;
  /** URL of its stream, which has a key for the cover. */
  readonly stream: string;
}

/** Metadata are read again after this time: sites correct titles, and add subtitles. */
const MAX_AGE_MS = 7 * 86_400_000;
/** Subtitles of an item, each of which is a request to its source. */
const MAX_SUBTITLES = 8;
/** A language as file names have it. */
const LANGUAGE = /^[\w-]{1,35}$/;

/** Failures that every other entry would have too: of the folder, or of the instance after all retries. */
const FINAL_FAILURES = ['not-writable', 'unreachable', 'unauthorized', 'maintenance', 'starting', 'busy', 'too-many'];

/** Whether a failure ends the run. */
export const isFinal = (error: unknown): boolean =>
  !(error instanceof ReelayError) || FINAL_FAILURES.includes(error.code);

/** Whether the metadata of an item are missing or old. @param path of its files, without their endings */
export async function isDue(path: string): Promise<boolean> {
  const found = await stat(`${path}.nfo`).catch(() => undefined);
  return found === undefined || Date.now() - found.mtimeMs > MAX_AGE_MS;
}

/**
 * Writes the link of an item, unless the file has it. A newer signature of the same link waits for the metadata to be due.
 * @returns undefined: it was there
 */
export async function writeLink(path: string, link: string): Promise<Download | undefined> {
  const file = `${path}.strm`;
  const text = `${link}\n`;
  const there = await readFile(file, 'utf8').catch(() => undefined);
  if (there !== undefined && withoutAccess(there) === withoutAccess(text)) return undefined;
  return writeText(file, text);
}

const withoutAccess = (link: string): string => link.replace(/[?&]access=[\w.-]*/, '');

/** Writes all files of an item. A cover and subtitles that cannot be read are left out. @param path without their endings */
export async function writeItem(
  client: Client,
  path: string,
  item: LibraryItem,
  retry: RetryOptions,
): Promise<Download> {
  const folder = dirname(path);
  await requireWritable(folder, mkdir(folder, { recursive: true }));
  // The site of a cover that fails is not waited for.
  const options = { ...retry, maxSiteWaitSeconds: 0, overwrites: true };
  const [, key] = /\/api\/Stream\/\w+\/([^/?]+)/.exec(item.stream) ?? [];
  if (item.details.coverUrl && key !== undefined) {
    const chooseFile = async ({ name }: { readonly name: string }) => `${path}-poster${extname(name)}`;
    const cover = await optional(download(client, `/api/Stream/Cover/${key}`, { ...options, chooseFile }));
    // Jellyfin and Kodi look for the picture of an item under the first name, and Kodi for that of its folder.
    const second = cover && join(folder, `folder${extname(cover.file)}`);
    if (cover && second) await requireWritable(second, copyFile(cover.file, second));
  }
  for (const { language, key } of chooseSubtitles(item.details)) {
    const file = `${path}.${languageLabel(language)}.srt`;
    // As SubRip, which every version of every program reads.
    await optional(download(client, `/api/Stream/Subtitle/${key}?format=srt`, { ...options, file }));
  }
  await writeText(`${path}.nfo`, writeNfo(item, basename(path)));
  return writeText(`${path}.strm`, `${item.link}\n`);
}

/** Removes the files of an item, and its folder unless something else is in it. */
export async function removeItem(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  const files = await readdir(folder).catch(() => []);
  for (const file of files.filter((file) => file.startsWith(name) || /^folder\.\w+$/.test(file)))
    await requireWritable(folder, rm(join(folder, file), { force: true, recursive: true }));
  await rmdir(folder).catch(() => undefined);
}

async function writeText(file: string, text: string): Promise<Download> {
  await requireWritable(file, replaceFile(file, text));
  return { file, bytes: Buffer.byteLength(text), resumedBytes: 0 };
}

/** Undefined for a file that cannot be read, unless that ends the run. */
const optional = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isFinal(error)) throw error;
    return undefined;
  });

/** One of each language, by people before automatic. */
function chooseSubtitles({ subtitles }: MediaDetails): readonly { readonly language: string; readonly key: string }[] {
  const byLanguage = new Map<string, { readonly language: string; readonly key: string }>();
  for (const { language, key } of subtitles.toSorted((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic))) {
    const id = language?.toLowerCase() ?? '';
    if (language && key && LANGUAGE.test(language) && !byLanguage.has(id)) byLanguage.set(id, { language, key });
  }
  return [...byLanguage.values()].slice(0, MAX_SUBTITLES);
}

/** The metadata as Kodi and Jellyfin read them: a film in a folder of its own, whatever it is at its source. */
function writeNfo({ url, title, author, details }: LibraryItem, id: string): string {
  const { coverUrl, description, uploadDate, durationSeconds, tags } = details;
  const minutes = durationSeconds ? String(Math.max(1, Math.round(durationSeconds / 60))) : undefined;
  const elements = [
    element('title', title ?? url),
    element('plot', description),
    element('studio', author),
    element('premiered', uploadDate),
    element('runtime', minutes),
    element('uniqueid', id.slice(id.lastIndexOf('[') + 1, -1), ' type="reelay" default="true"'),
    ...tags.map((tag) => element('tag', tag)),
    element('thumb', coverUrl, ' aspect="poster"'),
    // Jellyfin would look films of similar titles up, and replace these metadata.
    element('lockdata', 'true'),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<movie>${elements.join('')}</movie>\n`;
}

/** Characters that XML 1.0 cannot contain, not even escaped (§2.2). */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** An element of text; empty without any. */
const element = (name: string, text: string | null | undefined, attributes = ''): string =>
  text
    ? `<${name}${attributes}>${text.replace(NOT_XML, '').replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? '')}</${name}>`
    : '';

/** Bytes of a name: the files of an item repeat that of its folder, and paths stay below the 260 characters of Windows. */
const MAX_NAME_BYTES = 72;
/** Characters of the digest of a link. */
const DIGEST_CHARACTERS = 10;
/** What file systems reserve, `%`, which Kodi decodes, and characters that a reader does not see. */
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"/\\|?*%]+/gu;
/** Words by which Jellyfin and Kodi leave a file out (`sample`), or take its picture for two beside or above each other. */
const SIGNS = /(?<![\p{L}\p{N}])(?:sample|[fh]?sbs(?:3d)?|[fh]?tab|mvc)(?![\p{L}\p{N}])/giu;

/** A title as the list or the item has it. */
interface Naming {
  readonly title: string | null;
  readonly author: string | null;
}

/** `Artist - Title`; a title that names the artist is enough. */
export const titleOf = ({ title, author }: Naming): string | null =>
  title && author && !title.includes(author) ? `${author} - ${title}` : title;

/**
 * `Artist - Title [digest]`: the name of the folder of an item and of its files. The digest of the link keeps items of the same
 * title apart, and no name ends as those of trailers and samples do, which Jellyfin takes for extras.
 */
export function libraryName(naming: Naming, link: string): string {
  const digest = createHash('sha256').update(link).digest('hex').slice(0, DIGEST_CHARACTERS);
  const suffix = ` [${digest}]`;
  const clean = (titleOf(naming) ?? '')
    .normalize('NFC')
    .replace(SIGNS, (word) => `${word.slice(0, 2)}-${word.slice(2)}`)
    .replace(/-(?=trailer)/gi, '- ')
    .replace(/\[(playlist|boxset)\]/gi, '($1)')
    .replace(FORBIDDEN, ' ');
  const cut = cutText(withoutEdges(clean), MAX_NAME_BYTES - suffix.length);
  // As the state of the folder reads it: `CON.` begins the name of a device.
  return safeFileName((withoutEdges(cut) || 'media') + suffix);
}

const withoutEdges = (text: string): string => text.replace(/^[. ]+|[. ]+$/g, '');

/** The languages with a region or script that Jellyfin knows. */
const KNOWN_VARIANTS = /^(?:es-419|fr-ca|pt-(?:br|pt)|zh-(?:cn|tw|hk|hans|hant))$/i;
/** Codes that sites still use, and what ISO 639 calls them now. */
const RENAMED: Readonly<Record<string, string>> = { iw: 'he', in: 'id', jw: 'jv' };

/** A language in the name of a file of subtitles. One that Jellyfin knows follows where it would find none: `en-US.en`. */
export function languageLabel(language: string): string {
  const [, primary] = /^([a-z]{2,3})(?:[-_]|$)/.exec(language.toLowerCase()) ?? [];
  if (primary === undefined || KNOWN_VARIANTS.test(language)) return language;
  const known = RENAMED[primary] ?? primary;
  return known === language.toLowerCase() ? language : `${language}.${known}`;
}
