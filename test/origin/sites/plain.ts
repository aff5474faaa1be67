import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer, Exchange } from '../handler.ts';
import { createRecorded } from '../recorded.ts';
import { send } from '../respond.ts';
import recordings from './answers.json' with { type: 'json' };

const recorded = createRecorded({ answers: recordings.plain });
const HUGE_BYTES = 50_000_000;
const CUES = Buffer.from('00:01.000 --> 00:02.000\nAgain\n\n'.repeat(10_000));

/** Valid WebVTT of 50 MB. */
async function sendHugeSubtitles({ request, response }: Exchange): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/vtt' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  function* content() {
    yield Buffer.from('WEBVTT\n\n');
    for (let bytes = 0; bytes < HUGE_BYTES; bytes += CUES.length) yield CUES;
  }
  // The client may leave.
  await pipeline(Readable.from(content()), response).catch(() => undefined);
}

/** `/plain/video`, `/plain/json`, …: media without an extension, and files that are no media. */
export function plain(exchange: Exchange): Answer {
  if (exchange.path === 'subtitles.huge') return sendHugeSubtitles(exchange);
  if (exchange.path === 'noise') return send(exchange, 'video/mp4', Buffer.alloc(64 * 1024, 'noise '));
  return recorded.handle(exchange);
}
