import { createHash } from 'node:crypto';
import { element, escapeXml, textElement, XML_DECLARATION } from '../../core/http/index.ts';
import type { Feed, FeedItem } from './feed.ts';

const NAMESPACES = {
  'xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
  'xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
  'xmlns:psc': 'http://podlove.org/simple-chapters',
  'xmlns:atom': 'http://www.w3.org/2005/Atom',
  'xmlns:media': 'http://search.yahoo.com/mrss/',
};
/** Characters of a description. */
const MAX_DESCRIPTION_LENGTH = 4_000;
/** Lambda limits a response to 6 MB; further items are left out. */
const MAX_BYTES = 5_000_000;
/** Minutes for which clients need not ask again: as long as a resolved list is fresh. */
const TTL_MINUTES = 60;
/** The namespace of GUIDs of podcast feeds (`podcast:guid` of the podcast namespace). */
const GUID_NAMESPACE = 'ead4c2365bf858c6a2c6a6b28d128cb6';

/**
 * A podcast: RSS 2.0 with the tags of iTunes and of the podcast namespace (Podcasting 2.0). Live items have no episode
 * yet. `feed` (npm) writes neither the podcast namespace nor chapters, and has no limit of bytes.
 */
export function writeRss(feed: Feed): string {
  const head = channelHead(feed);
  let remainingBytes = MAX_BYTES - Buffer.byteLength(head);
  const items: string[] = [];
  for (const item of feed.items.filter(({ isLive }) => !isLive)) {
    const text = writeItem(item);
    remainingBytes -= Buffer.byteLength(text);
    if (remainingBytes < 0) break;
    items.push(text);
  }
  const rss = element('rss', element('channel', head + items.join('')), { version: '2.0', ...NAMESPACES });
  return `${XML_DECLARATION}${rss}\n`;
}

function channelHead({ title, author, link, selfUrl, nextUrl, imageUrl }: Feed): string {
  return [
    textElement('title', title),
    textElement('link', link),
    textElement('description', author ? `${title} · ${author}` : title),
    textElement('generator', 'Reelay'),
    textElement('ttl', String(TTL_MINUTES)),
    atomLink('self', selfUrl),
    // RFC 5005: clients that follow it read the whole list.
    atomLink('next', nextUrl),
    imageUrl
      ? element('image', textElement('url', imageUrl) + textElement('title', title) + textElement('link', link))
      : '',
    imageUrl ? element('itunes:image', '', { href: imageUrl }) : '',
    textElement('itunes:author', author),
    textElement('itunes:explicit', 'false'),
    textElement('podcast:guid', uuid5(link)),
  ].join('');
}

const atomLink = (rel: string, href: string | undefined): string =>
  href ? element('atom:link', '', { rel, type: 'application/rss+xml', href }) : '';

function writeItem(item: FeedItem): string {
  const { id, title, author, link, description, uploadDate, durationSeconds, imageUrl, media } = item;
  const { chaptersUrl, transcriptUrl } = item;
  return element(
    'item',
    [
      textElement('title', title),
      textElement('link', link),
      element('guid', escapeXml(id), { isPermaLink: 'false' }),
      textElement('description', description && toHtml(description.slice(0, MAX_DESCRIPTION_LENGTH))),
      textElement('pubDate', uploadDate && new Date(uploadDate).toUTCString()),
      element('enclosure', '', { url: media.url, type: media.mimeType, length: String(media.bytes) }),
      textElement('itunes:author', author),
      textElement('itunes:duration', durationSeconds ? String(Math.round(durationSeconds)) : undefined),
      imageUrl ? element('itunes:image', '', { href: imageUrl }) : '',
      // Clients of video feeds read this one.
      imageUrl ? element('media:thumbnail', '', { url: imageUrl }) : '',
      textElement('itunes:explicit', 'false'),
      writeChapters(item),
      chaptersUrl ? element('podcast:chapters', '', { url: chaptersUrl, type: 'application/json+chapters' }) : '',
      transcriptUrl ? element('podcast:transcript', '', { url: transcriptUrl, type: 'text/vtt' }) : '',
    ].join(''),
  );
}

/** Podlove Simple Chapters, for clients that do not fetch the JSON. Empty without chapters. */
function writeChapters({ chapters = [] }: FeedItem): string {
  if (chapters.length === 0) return '';
  const marks = chapters.map(({ startSeconds, title }) =>
    element('psc:chapter', '', { start: clockOf(startSeconds), title: title ?? '' }),
  );
  return element('psc:chapters', marks.join(''), { version: '1.2' });
}

/** `01:02:03.500` */
function clockOf(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const parts = [Math.floor(milliseconds / 3_600_000), Math.floor(milliseconds / 60_000) % 60];
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${parts.map(pad).join(':')}:${((milliseconds % 60_000) / 1000).toFixed(3).padStart(6, '0')}`;
}

/** Clients render a description as HTML: the text of a source must not become markup. */
const toHtml = (text: string): string => escapeXml(text).replace(/\r?\n/g, '<br>');

/** A name-based UUID of the link without its scheme (RFC 9562 §5.5). */
function uuid5(link: string): string {
  const name = link.replace(/^https?:\/\//, '').replace(/\/+$/, '');
  const hash = createHash('sha1').update(Buffer.from(GUID_NAMESPACE, 'hex')).update(name).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
