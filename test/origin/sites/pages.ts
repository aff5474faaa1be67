import type { Answer, Exchange } from '../handler.ts';
import { html, send } from '../respond.ts';

const title = (text: string) => `<title>${text}</title>`;
const og = (name: string, content: string) => `<meta property="og:${name}" content="${content}">`;

/** Builds head and body of a page; `base` is the URL of the origin. */
type Page = (base: string) => { head?: string; body: string };

const PAGES: Readonly<Record<string, Page>> = {
  video: (base) => ({
    head: title('One video') + og('title', 'One video') + og('image', `${base}/files/wide.jpg`),
    body: '<video src="/files/clip.mp4" poster="/files/wide.jpg"></video>',
  }),
  sources: () => ({
    head: title('Two sources'),
    body: `<video><source src="/files/ladder/both-720.mp4" type="video/mp4" label="720p">
      <source src="/files/ladder/both-360.mp4" type="video/mp4" label="360p"></video>`,
  }),
  videos: () => ({
    head: title('Three videos'),
    body: `<video src="/files/clip.mp4"></video><p>and</p><video src="/files/clip.webm"></video>
      <audio src="/files/tone.mp3"></audio>`,
  }),
  'json-ld': (base) => ({
    head: `${title('A described video')}<script type="application/ld+json">${JSON.stringify({
      '@context': 'https://schema.org',
      '@type': 'VideoObject',
      name: 'A described video',
      description: 'Says what it is.',
      author: { '@type': 'Person', name: 'Ada Example' },
      thumbnailUrl: `${base}/files/wide.jpg`,
      uploadDate: '2026-01-02',
      duration: 'PT6S',
      contentUrl: `${base}/files/clip.mp4`,
    })}</script>`,
    body: 'Words.',
  }),
  og: (base) => ({
    head:
      title('Shared') +
      og('title', 'A shared video') +
      og('image', `${base}/files/wide.jpg`) +
      og('video', `${base}/files/clip.mp4`) +
      og('video:type', 'video/mp4'),
    body: 'Words.',
  }),
  'meta-refresh': () => ({ head: '<meta http-equiv="refresh" content="0; url=/pages/video">', body: 'On we go.' }),
  words: () => ({ head: title('Words'), body: '<p>No media here, only words.</p>' }),
  'dead-video': () => ({ head: title('Dead'), body: '<video src="/files/nowhere.mp4"></video>' }),
  hls: () => ({ head: title('HLS page'), body: '<video src="/hls/master.m3u8" type="application/x-mpegurl"></video>' }),
};

/** `/pages/video`, `/pages/og`, …: pages that embed media. */
export function pages(exchange: Exchange): Answer {
  const page = PAGES[exchange.path]?.(exchange.url.origin);
  if (page) html(exchange, page.body, page.head);
  else send(exchange, 'text/html', 'Not here', 404);
}
