import { join, respond, urlSource } from '@reelay/seekable-media';

/** The headers of the two files are read once, with the first request. */
let joined;

const read = async () => join(await Promise.all([urlSource('/video.mp4'), urlSource('/audio.m4a')]));

async function answer(request) {
  joined ??= read();
  try {
    return respond(request, await joined);
  } catch (error) {
    joined = undefined;
    return new Response(String(error), { status: 502 });
  }
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname === '/joined.mp4') event.respondWith(answer(event.request));
});
