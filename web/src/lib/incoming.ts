/** Limit of the service. */
const MAX_LINK_CHARACTERS = 4096;
const SCHEMED = /https?:\/\/[^\s<>"'`\u00ab\u00bb\u201c-\u201e\u300c\u300d\u3000]+/i;
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
  const whole = /^https?:\/\/\S+$/i.test(trimmed) ? trimmed : undefined;
  const found = whole ?? withoutTail(SCHEMED.exec(trimmed)?.[0]);
  const bare = BARE.test(trimmed) ? `https://${trimmed}` : undefined;
  const link = usable(found ?? bare);
  return link && unwrapped(link, page);
}

/** Every link in a text, each once, in order: one per line or between other words. */
export function linksFromText(text: string, page = globalThis.location?.host): string[] {
  const words = text.split(/\s+/).filter((word) => /https?:\/\//i.test(word));
  // Without a scheme only a whole line is a link: words such as `film.mov` are not.
  const parts = words.length > 0 ? words : text.split(/\r?\n/);
  const links = parts.flatMap((part) => linkFromText(part, page) ?? []);
  return [...new Set(links)].slice(0, MAX_BATCH);
}

/** Whether a text is a link that exceeds the limit. */
export const isTooLong = (text: string): boolean =>
  text.trim().length > MAX_LINK_CHARACTERS && /^https?:\/\/\S+$/i.test(text.trim());

/** The link in `/?url=…` or a share target's `url`, `text` or `title`. */
export function linkFromLocation(search: string, page = globalThis.location?.host): string | undefined {
  for (const text of textsOf(search)) {
    const link = linkFromText(text, page);
    if (link) return link;
  }
  return undefined;
}

/** The links of a batch, `/?url=…&url=…`; empty for a single link. */
export function linksFromLocation(search: string, page = globalThis.location?.host): string[] {
  const links = new URLSearchParams(search).getAll('url').flatMap((text) => linkFromText(text, page) ?? []);
  return links.length > 1 ? [...new Set(links)].slice(0, MAX_BATCH) : [];
}

/** The text in place of a link, when there is none. */
export const textFromLocation = (search: string): string | undefined => textsOf(search)[0];

/** Android puts a shared link into `text`. */
function textsOf(search: string): string[] {
  const query = new URLSearchParams(search);
  return ['url', 'text', 'title'].map((name) => query.get(name)?.trim() ?? '').filter((text) => text !== '');
}

/** The links of a drop or paste, each once. */
export function linksFromTransfer(data: Pick<DataTransfer, 'getData'> | null): string[] {
  if (!data) return [];
  // RFC 2483 §5: one URI per line, comments start with `#`.
  const uris = data.getData('text/uri-list').split(/\r?\n/);
  const links = linksFromText(uris.filter((line) => !line.startsWith('#')).join('\n'));
  return links.length > 0 ? links : linksFromText(data.getData('text/plain'));
}

/** This page's address for a batch: `/?url=…&url=…`. */
export const batchLocation = (links: readonly string[]): string =>
  `/?${links.map((link) => `url=${encodeURIComponent(link)}`).join('&')}`;

/** This page's address for a link, `/?url=…`, with `&quality=…` for a format; `/` without a link. */
export function shareableLocation(link: string | undefined, quality?: string): string {
  if (link === undefined) return '/';
  return `/?url=${encodeURIComponent(link)}${quality ? `&quality=${encodeURIComponent(quality)}` : ''}`;
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
  return (host === page && pathname === '/' && linkFromLocation(search, page)) || link;
}

function usable(link: string | undefined): string | undefined {
  if (!link || link.length > MAX_LINK_CHARACTERS || !link.isWellFormed() || !/^https?:\/\/[^/?#\\]/i.test(link))
    return undefined;
  return URL.canParse(link) && new URL(link).hostname !== '' ? link : undefined;
}
