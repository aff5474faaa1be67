import type { Answer, Exchange } from '../handler.ts';
import { html, redirect, send, typeOf } from '../respond.ts';

/**
 * References to private addresses: `/inward/redirect?to=http://10.0.0.1/x.mp4`, and likewise `playlist`,
 * `segment`, `key`, `mpd`, `video` (an element of a page) and `thumbnail`. A guarded client requests none of them.
 */
export function inward(exchange: Exchange): Answer {
  const to = exchange.url.searchParams.get('to') ?? 'http://169.254.169.254/latest/meta-data/';
  const list = (lines: string) => send(exchange, typeOf('.m3u8'), `#EXTM3U\n#EXT-X-TARGETDURATION:2\n${lines}\n`);
  switch (exchange.path) {
    case 'redirect':
      return redirect(exchange, to);
    case 'playlist':
      return list(`#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=320x180\n${to}`);
    case 'segment':
      return list(`#EXTINF:2,\n${to}\n#EXT-X-ENDLIST`);
    case 'key':
      return list(`#EXT-X-KEY:METHOD=AES-128,URI="${to}"\n#EXTINF:2,\n/hls/aes/0.ts\n#EXT-X-ENDLIST`);
    case 'mpd':
      return send(exchange, typeOf('.mpd'), mpd(to));
    case 'video':
      return html(exchange, `<video src="${to}"></video>`, '<title>Look inside</title>');
    default:
      return send(exchange, 'text/plain', 'Not here', 404);
  }
}

const mpd = (base: string) => `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S"><Period>
<BaseURL>${base.replace(/[^/]*$/, '')}</BaseURL>
<AdaptationSet contentType="video"><Representation id="0" mimeType="video/mp4" codecs="avc1.42c01f" bandwidth="100000"
width="320" height="180"><SegmentTemplate timescale="1" duration="2" initialization="init.m4s" media="$Number$.m4s"
startNumber="1"/></Representation></AdaptationSet></Period></MPD>`;
