import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from '../handler.ts';
import { SECONDS } from '../recipes.ts';
import { pause, send, sendFile, typeOf } from '../respond.ts';

/** Segments in a live playlist, and their duration, which is the key frame interval of `long.mp4`. */
const WINDOW = 5;
const SEGMENT_SECONDS = 2.5;
/** Segments before the first request, and segments after which the media repeats. */
const LEAD = 10;
const PROGRAMME = SECONDS.long / SEGMENT_SECONDS;

const started = Date.now();

/**
 * `/live/index.m3u8`: a sliding window over five minutes of media that repeat; `/live/radio.mp3`: endless audio.
 */
export async function live(exchange: Exchange): Promise<void> {
  if (exchange.path === 'index.m3u8') return send(exchange, typeOf('.m3u8'), slidingWindow());
  if (exchange.path === 'radio.mp3') return radio(exchange);
  return sendFile(exchange, `hls/long/${exchange.path}`);
}

function slidingWindow(): string {
  const newest = LEAD + Math.floor((Date.now() - started) / 1000 / SEGMENT_SECONDS);
  const first = newest - WINDOW + 1;
  const segments = Array.from({ length: WINDOW }, (_, index) => {
    const piece = (first + index) % PROGRAMME;
    return `${piece === 0 ? '#EXT-X-DISCONTINUITY\n' : ''}#EXTINF:${SEGMENT_SECONDS},\n${piece}.ts`;
  });
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:3',
    `#EXT-X-TARGETDURATION:${Math.ceil(SEGMENT_SECONDS)}`,
    `#EXT-X-MEDIA-SEQUENCE:${first}`,
    ...segments,
    '',
  ].join('\n');
}

/** Six seconds of audio that repeat in real time until the client disconnects. */
async function radio({ response, mediaDir, signal }: Exchange): Promise<void> {
  const tone = await readFile(join(mediaDir, 'tone.mp3'));
  response.writeHead(200, { 'content-type': 'audio/mpeg', 'icy-name': 'Radio Reelay' });
  while (!signal.aborted) {
    response.write(tone);
    await pause(1_000, undefined, { signal });
  }
}
