/** As long as the service takes. */
const MAX_LINK_CHARACTERS = 4096;
const SCHEMED = /https?:\/\/[^\s<>"'`\u00ab\u00bb\u201c-\u201e\u300c\u300d\u3000]+/i;
/** What a sentence puts behind a link. */
const TRAILING = /[.,;:!?\u2026\u3001\u3002\u060c\u061b\u061f]+$/;
/** `example.com/x` and `localhost:8080`-like hosts are not guessed at: a name with a known look alone. */
const BARE = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d{1,5})?(?:[/?#]\S*)?$/i;

/**
 * The link in a text that somebody typed, pasted or shared: the first that there is; `example.com/x` gets its scheme.
 * @param page host of this page: of a link to it, what counts is the link that it holds
 * @returns undefined when there is none
 */
export function linkFromText(text: string, page = globalThis.location?.host): string | undefined {
  const trimmed = text.trim();
  const whole = /^https?:\/\/\S+$/i.test(trimmed) ? trimmed : undefined;
  const found = whole ?? withoutTail(SCHEMED.exec(trimmed)?.[0]);
  const bare = BARE.test(trimmed) ? `https://${trimmed}` : undefined;
  const link = usable(found ?? bare);
  return link && unwrapped(link, page);
}

/** Whether a text would be a link, were it shorter. */
export const isTooLong = (text: string): boolean =>
  text.trim().length > MAX_LINK_CHARACTERS && /^https?:\/\/\S+$/i.test(text.trim());

/** The link of a page opened by `/?url=…`, a share target (`url`, `text`, `title`) or a bookmarklet. */
export function linkFromLocation(search: string, page = globalThis.location?.host): string | undefined {
  for (const text of textsOf(search)) {
    const link = linkFromText(text, page);
    if (link) return link;
  }
  return undefined;
}

/** What came in the place of a link, for a page that was opened the same way without any. */
export const textFromLocation = (search: string): string | undefined => textsOf(search)[0];

/** Android puts the link of a share into its text. */
function textsOf(search: string): string[] {
  const query = new URLSearchParams(search);
  return ['url', 'text', 'title'].map((name) => query.get(name)?.trim() ?? '').filter((text) => text !== '');
}

/** The link of a drop or a paste. */
export function linkFromTransfer(data: Pick<DataTransfer, 'getData'> | null): string | undefined {
  if (!data) return undefined;
  // RFC 2483 §5: one address a line, comments begin with `#`.
  const addresses = data.getData('text/uri-list').split(/\r?\n/);
  const first = addresses.find((line) => line.trim() !== '' && !line.startsWith('#'));
  return linkFromText(first ?? '') ?? linkFromText(data.getData('text/plain'));
}

/** The address of this page for a link: `/?url=…`; without one the bare page. */
export const shareableLocation = (link: string | undefined): string =>
  link === undefined ? '/' : `/?url=${encodeURIComponent(link)}`;

/** Without the punctuation behind it, and without a bracket that was opened before it began. */
function withoutTail(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  let bare = link.replace(TRAILING, '');
  for (const [open, close] of ['()', '[]', '{}']) {
    const isClosedTooOften = bare.split(close ?? '').length > bare.split(open ?? '').length;
    if (bare.endsWith(close ?? '') && isClosedTooOften) bare = bare.slice(0, -1).replace(TRAILING, '');
  }
  return bare;
}

/** What a link to this page is about; any other link as it is. */
function unwrapped(link: string, page: string | undefined): string {
  const { host, pathname, search } = new URL(link);
  return (host === page && pathname === '/' && linkFromLocation(search, page)) || link;
}

function usable(link: string | undefined): string | undefined {
  if (!link || link.length > MAX_LINK_CHARACTERS || !link.isWellFormed() || !/^https?:\/\/[^/?#\\]/i.test(link))
    return undefined;
  return URL.canParse(link) && new URL(link).hostname !== '' ? link : undefined;
}
