/** The service rejects longer links. */
const MAX_LINK_CHARACTERS = 4096;
const SCHEMED = /https?:\/\/[^\s<>"'`\u00ab\u00bb\u201c-\u201e\u300c\u300d\u3000]+/i;
const WHOLE = /^https?:\/\/\S+$/i;
/** More links in one paste are dropped. */
const MAX_BATCH = 100;
/** Punctuation that ends a sentence. */
const TRAILING = /[.,;:!?\u2026\u3001\u3002\u060c\u061b\u061f]+$/;
/** A host name with a top-level domain. Bare hosts such as `localhost:8080` need a scheme. */
const BARE = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d{1,5})?(?:[/?#]\S*)?$/i;

/**
 * The first link in a typed, pasted or shared text; `example.com/x` becomes https.
 * @param page host of this page, whose `/?url=` links are unwrapped
 * @returns undefined without a link
 */
export function linkFromText(text: string, page = globalThis.location?.host): string | undefined {
  const trimmed = text.trim();
  const whole = WHOLE.test(trimmed) ? trimmed : undefined;
  const found = whole ?? withoutTail(SCHEMED.exec(trimmed)?.[0]);
  const bare = BARE.test(trimmed) ? `https://${trimmed}` : undefined;
  const link = usable(found ?? bare);
  return link && unwrapped(link, page);
}

/** Every link in a text, each once, in order: one per line or between other words. */
export function linksFromText(text: string, page = globalThis.location?.host): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  // What ends a word of a line may be punctuation.
  const linksIn = (line: string) => line.split(/\s+/).flatMap((word) => withoutTail(SCHEMED.exec(word)?.[0]) ?? []);
  const found = lines.flatMap((line) => (WHOLE.test(line) ? line : linksIn(line)));
  // Without a scheme only a whole line is a link: words such as `film.mov` are not.
  return linksOf(found.length > 0 ? found : lines, page);
}

/** The links of some texts, each once. */
const linksOf = (texts: readonly string[], page: string | undefined): string[] =>
  [...new Set(texts.flatMap((text) => linkFromText(text, page) ?? []))].slice(0, MAX_BATCH);

/** Whether a text is a link that exceeds the limit. */
export const isTooLong = (text: string): boolean => text.trim().length > MAX_LINK_CHARACTERS && WHOLE.test(text.trim());

/** The lines of a text that contain none of its links, or one beyond the limit. */
export function unopenedLines(text: string, page = globalThis.location?.host): string[] {
  const links = new Set(linksFromText(text, page));
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !linksFromText(line, page).some((link) => links.has(link)));
}

/** The links in `/?url=…&url=…`, or those in a share target's `text` or `title`. */
export function linksFromLocation(search: string, page = globalThis.location?.host): string[] {
  const links = linksOf(new URLSearchParams(search).getAll('url'), page);
  return links.length > 0 ? links : linksFromText(textsOf(search).join('\n'), page);
}

/** The page of a list that an address names. */
export const offsetFromLocation = (search: string): number =>
  Math.max(0, Math.trunc(Number(new URLSearchParams(search).get('offset'))) || 0);

/** The text in place of a link, when there is none. */
export const textFromLocation = (search: string): string | undefined => textsOf(search)[0];

/** Android puts a shared link into `text`. */
function textsOf(search: string): string[] {
  const query = new URLSearchParams(search);
  return ['url', 'text', 'title'].map((name) => query.get(name)?.trim() ?? '').filter((text) => text !== '');
}

/** The text of a drop or paste that has links; empty without one. */
export function textOfTransfer(data: Pick<DataTransfer, 'getData'> | null): string {
  if (!data) return '';
  // RFC 2483 §5: one URI per line, comments start with `#`.
  const uris = data.getData('text/uri-list').split(/\r?\n/);
  const texts = [uris.filter((line) => !line.startsWith('#')).join('\n'), data.getData('text/plain')];
  return texts.find((text) => linksFromText(text).length > 0) ?? '';
}

/** The path of the page, without the slash at its end: empty at the root of its origin. */
export const pagePath = (): string => (globalThis.location?.pathname ?? '').replace(/\/[^/]*$/, '');

/** This page's address for links, `/?url=…&url=…`, with `&quality=…` for a format, or for a page of a list. */
export function shareableLocation(links: readonly string[], quality?: string, path = pagePath(), offset = 0): string {
  const query = new URLSearchParams(links.map((link) => ['url', link]));
  if (offset > 0) query.set('offset', String(offset));
  if (quality) query.set('quality', quality);
  return `${path}/?${query}`;
}

/** Strips trailing punctuation and unbalanced closing brackets. */
function withoutTail(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  let bare = link.replace(TRAILING, '');
  for (const [open, close] of ['()', '[]', '{}']) {
    const isClosedTooOften = bare.split(close ?? '').length > bare.split(open ?? '').length;
    if (bare.endsWith(close ?? '') && isClosedTooOften) bare = bare.slice(0, -1).replace(TRAILING, '');
  }
  return bare;
}

/** The link inside a link to this page; any other link unchanged. */
function unwrapped(link: string, page: string | undefined): string {
  const { host, pathname, search } = new URL(link);
  return (host === page && pathname === `${pagePath()}/` && linksFromLocation(search, page)[0]) || link;
}

function usable(link: string | undefined): string | undefined {
  if (!link || link.length > MAX_LINK_CHARACTERS || !link.isWellFormed() || !/^https?:\/\/[^/?#\\]/i.test(link))
    return undefined;
  return URL.parse(link)?.hostname ? link : undefined;
}

/** A bookmarklet that opens the current page's address here. @param page this page's address without a slash at its end */
export function bookmarklet(page: string): string {
  const target = JSON.stringify(`${page}/?url=`);
  return `javascript:${encodeURIComponent(`void open(${target}+encodeURIComponent(location.href))`)}`;
}
