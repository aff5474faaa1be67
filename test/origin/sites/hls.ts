import type { Answer, Exchange } from '../handler.ts';
import { send, sendFile, typeOf } from '../respond.ts';

/** Two video variants with a separate audio group. */
const MASTER = `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="audio/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1900000,RESOLUTION=640x360,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="sound"
v360/index.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=6800000,RESOLUTION=1280x720,CODECS="avc1.42c01f,mp4a.40.2",AUDIO="sound"
v720/index.m3u8
`;

/** Variants with both tracks. */
const MUXED = `#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=320x180,CODECS="avc1.42c00d,mp4a.40.2"
ts/index.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=160x90,CODECS="avc1.42c00b,mp4a.40.2"
long/index.m3u8
`;

const SAMPLE_AES = `#EXTM3U
#EXT-X-VERSION:5
#EXT-X-TARGETDURATION:2
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
#EXTINF:2,
ts/0.ts
#EXT-X-ENDLIST
`;

/** Half a minute of media, then a missing segment. */
const MISSING_SEGMENT = [
  '#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXT-X-PLAYLIST-TYPE:VOD',
  ...Array.from({ length: 15 }, (_, index) => `#EXTINF:2,\nlong/${index}.ts`),
  '#EXTINF:2,\nlong/missing.ts',
  '#EXTINF:2,\nlong/16.ts',
  '#EXT-X-ENDLIST\n',
].join('\n');

const PLAYLISTS: Readonly<Record<string, string>> = {
  'master.m3u8': MASTER,
  'muxed.m3u8': MUXED,
  'drm.m3u8': SAMPLE_AES,
  'missing-segment.m3u8': MISSING_SEGMENT,
  'empty.m3u8': '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-ENDLIST\n',
  'dead-variant.m3u8': '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=320x180\nnowhere/index.m3u8\n',
};

/** `/hls/master.m3u8`, `/hls/{ts,fmp4,aes,long}/index.m3u8`, and playlists with missing segments. */
export function hls(exchange: Exchange): Answer {
  const playlist = PLAYLISTS[exchange.path];
  if (playlist !== undefined) return send(exchange, typeOf('.m3u8'), playlist);
  return sendFile(exchange, `hls/${exchange.path}`);
}
